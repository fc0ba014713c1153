import { setting } from '#shared/core/load-config.ts';

/** The setting of the workers whose upstreams limit the output of one request. */
export const fitOutputSetting = {
  FIT_MAX_TOKENS: setting.flag(
    "Whether a limit of output tokens that the upstream refuses, because it exceeds the remaining context or the model's maximum, is lowered to what fits; otherwise the client gets the error",
    true,
  ),
};
