/** A refusal or failure of the API, with an HTTP status, a code, and a sentence for the person. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly status: number;
  readonly code: string;
  /** The contract's name for the invalid input. */
  readonly field: string | undefined;
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    { field, retryAfter }: { field?: string; retryAfter?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.field = field;
    this.retryAfter = retryAfter;
  }
}

/** Returns a 404, which says that the resource does not exist or is hidden from the person. */
export function notFound(): ApiFailure {
  return new ApiFailure(404, 'not_found', 'This does not exist, or you cannot see it.');
}

/** Returns a 403, which says that the person may see the resource but may not do what they asked for. */
export function forbidden(message = 'You are not allowed to do this.'): ApiFailure {
  return new ApiFailure(403, 'permission_denied', message);
}

/** Returns a 412, which says that the resource does not have the revision that `If-Match` names. */
export function stale(): ApiFailure {
  return new ApiFailure(412, 'stale', 'This has changed meanwhile. Read it again, and repeat what is still wanted.');
}
