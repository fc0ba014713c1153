import type { ErrorDetails } from '#shared/core/errors.ts';

/** A capability that a model may lack. Claude Code knows these names and retries without the capability. */
export type RejectedCapability =
  | 'image_block'
  | 'document_block'
  | 'structured_outputs_unsupported'
  | 'effort_unsupported';

const errorCode = 'capability_rejected';

/** Returns the details of an error about a missing capability. The messages format adds the name to its message. */
export function rejectedCapability(capability: RejectedCapability): NonNullable<ErrorDetails['details']> {
  return { error_code: errorCode, capability };
}

/** Reads the missing capability from the details of an error; undefined for any other error. */
export function rejectedIn(details: ErrorDetails['details']): string | undefined {
  const capability = details?.error_code === errorCode ? details['capability'] : undefined;
  return typeof capability === 'string' ? capability : undefined;
}
