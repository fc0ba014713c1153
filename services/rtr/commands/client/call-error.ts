interface CallErrorDetails extends ErrorOptions {
  code?: string | undefined;
  /** Name of the invalid field or parameter. */
  field?: string | undefined;
}

/** Thrown when the router refuses a request, or does not answer. The message is written for the user. */
export class CallError extends Error {
  override name = 'CallError';
  /** The HTTP status, which may come from a server other than the router; 0 if no answer came. */
  readonly status: number;
  readonly code: string | undefined;
  readonly field: string | undefined;

  constructor(status: number, message: string, { code, field, ...options }: CallErrorDetails = {}) {
    super(message, options);
    this.status = status;
    this.code = code;
    this.field = field;
  }

  /** Whether the same request may succeed later. */
  get mayBeTemporary(): boolean {
    return (
      this.status === 0 || this.status === 408 || this.status === 429 || (this.status >= 500 && this.status !== 507)
    );
  }
}
