// Words of the view.
export const team = {} as const satisfies Record<string, readonly [string, string]>;
