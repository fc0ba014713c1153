import type { ErrorDetails } from '#shared/core/errors.ts';

/** A capability that a model may lack. Claude Code recognizes these names, and retries without the capability. */
export type RejectedCapability =
  | 'image_block'
  | 'document_block'
  | 'structured_outputs_unsupported'
  | 'effort_unsupported';

const errorCode = 'capability_rejected';

export function createRejectionDetails(capability: RejectedCapability): NonNullable<ErrorDetails['details']> {
  return { error_code: errorCode, capability };
}

export function readRejectedCapability(details: ErrorDetails['details']): string | undefined {
  const capability = details?.error_code === errorCode ? details['capability'] : undefined;
  return typeof capability === 'string' ? capability : undefined;
}
