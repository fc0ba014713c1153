import { setting } from '#shared/core/load-config.ts';

/** The setting of all workers that serve models. */
export const usageChunkSetting = {
  USAGE_CHUNK: setting.flag(
    'Whether chat and completions clients that send `stream_options.include_usage` get the usage in a separate last chunk with empty `choices`, as from OpenAI; otherwise the usage is part of the chunk with the finish reason',
    false,
  ),
};
