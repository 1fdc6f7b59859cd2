// Words of the view.
export const me = {} as const satisfies Record<string, readonly [string, string]>;
