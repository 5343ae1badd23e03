/**
 * Paging limits that an operator may set; `spec.md` "Query parameters" leaves them open
 * (`docs/decisions/responses.md#page-size`).
 */
export interface PageLimits {
  /** Records per page if `size` is absent. */
  readonly sizeDefault: number;
  /** The largest `size`. A larger value is rejected with 400, never clamped. */
  readonly sizeMax: number;
  /** Number of the first page: 1, or 0 for clients that expect 0-based pages. */
  readonly firstPage: 0 | 1;
}

/** The default limits. */
export const defaultPageLimits: PageLimits = { sizeDefault: 20, sizeMax: 1000, firstPage: 1 };
