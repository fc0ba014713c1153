import type { ErrorDetails } from '#shared/core/errors.ts';

/** What a model may lack so that a client asks again without it, in the words of Claude Code. */
export type RejectedCapability =
  | 'image_block'
  | 'document_block'
  | 'structured_outputs_unsupported'
  | 'effort_unsupported';

const errorCode = 'capability_rejected';

/** The details of an error about a missing capability. The messages format adds the word to its message. */
export function rejectedCapability(capability: RejectedCapability): NonNullable<ErrorDetails['details']> {
  return { error_code: errorCode, capability };
}

/** The missing capability that an error is about. */
export function rejectedIn(details: ErrorDetails['details']): string | undefined {
  const capability = details?.error_code === errorCode ? details['capability'] : undefined;
  return typeof capability === 'string' ? capability : undefined;
}
