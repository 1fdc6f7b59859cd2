// Words of the view.
export const operate = {} as const satisfies Record<string, readonly [string, string]>;
