// Words of the view.
export const queue = {} as const satisfies Record<string, readonly [string, string]>;
