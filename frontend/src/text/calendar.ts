// Words of the view.
export const calendar = {} as const satisfies Record<string, readonly [string, string]>;
