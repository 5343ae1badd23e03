/**
 * Error codes of the token endpoint with their status (RFC 6749 §5.2, RFC 7009 §2.2.1; the last
 * three are not in these standards).
 */
export const tokenErrorTable = {
  invalid_request: { status: 400 },
  invalid_client: { status: 401 },
  invalid_grant: { status: 400 },
  unauthorized_client: { status: 400 },
  unsupported_grant_type: { status: 400 },
  invalid_scope: { status: 400 },
  unsupported_token_type: { status: 400 },
  slow_down: { status: 429 },
  server_error: { status: 500 },
  temporarily_unavailable: { status: 503 },
} as const satisfies Record<string, { readonly status: number }>;

/** A code of this table: the `error` of a rejected token request. */
export type TokenErrorCode = keyof typeof tokenErrorTable;
