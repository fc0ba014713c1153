import { z } from 'zod';

const positiveInteger = z.number().int().positive().optional().catch(undefined);

/** The answer of every engine to `GET /v1/models`, including fields that only some engines send. */
export const modelList = z.looseObject({
  data: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        owned_by: z.string().optional().catch(undefined),
        /** Maximum tokens of input and output together, from vLLM, SGLang and the demo engine. */
        max_model_len: positiveInteger,
        /** Input modalities such as `text` and `image`, from llama.cpp and some gateways. */
        architecture: z
          .looseObject({ input_modalities: z.array(z.string()).optional().catch(undefined) })
          .optional()
          .catch(undefined),
        /** Context size, from llama.cpp. */
        meta: z.looseObject({ n_ctx: positiveInteger }).nullish().catch(undefined),
      }),
    )
    .nullable()
    .transform((models) => models ?? []),
});
