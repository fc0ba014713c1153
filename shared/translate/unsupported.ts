import { RouterError } from '#shared/core/errors.ts';
import { createRejectionDetails, type RejectedCapability } from '#shared/formats/rejected-capability.ts';

/**
 * Returns the error for a part of a request that the upstream cannot serve, in the wording of the chat and Responses formats.
 * @param param path of the part
 * @param feature the feature that the part requests
 */
export function createUnsupportedChatError(param: string, feature: string): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `Unsupported value for '${param}': the model that serves this request cannot take ${feature}.`,
    { param },
  );
}

/**
 * Returns the error for a part of a `messages` request that the upstream cannot serve.
 * @param missing the missing capability, if clients can continue without it
 */
export function createUnsupportedMessagesError(
  param: string,
  feature: string,
  missing?: RejectedCapability,
): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `${param}: the model that serves this request cannot take ${feature}`,
    {
      param,
      details: missing && createRejectionDetails(missing),
    },
  );
}
