import { z } from 'zod';

const count = z.number().int().positive().optional().catch(undefined);

/** The answer of all engines to `GET /v1/models`, with the fields that some of them add. */
export const modelList = z.looseObject({
  data: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        owned_by: z.string().optional().catch(undefined),
        /** vLLM, SGLang and the demo engine: tokens of input and output together. */
        max_model_len: count,
        /** llama.cpp and some gateways: input modalities such as `text` and `image`. */
        architecture: z
          .looseObject({ input_modalities: z.array(z.string()).optional().catch(undefined) })
          .optional()
          .catch(undefined),
        /** llama.cpp. */
        meta: z.looseObject({ n_ctx: count }).nullish().catch(undefined),
      }),
    )
    .nullable()
    .transform((models) => models ?? []),
});
