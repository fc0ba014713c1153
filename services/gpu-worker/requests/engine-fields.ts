import { createHash } from 'node:crypto';
import type { JsonObject } from '#shared/core/json.ts';

/**
 * Fields that control how an engine runs, or what it does besides answering: the order of requests, the use of caches, the loading of
 * models, the code that runs, a limit of output that is not the one that the router counts. A client that may use a model must not steer the engine, which all clients share. The fields come from the
 * request types of vLLM, SGLang, llama.cpp, Ollama and LM Studio.
 */
const steeringFields: readonly string[] = [
  'bootstrap_host',
  'bootstrap_port',
  'bootstrap_room',
  'cache_salt',
  'custom_logit_processor',
  'custom_params',
  'data_parallel_rank',
  'ec_transfer_params',
  'extra_key',
  'id_slot',
  'keep_alive',
  'kv_transfer_params',
  'lora',
  'lora_path',
  'n_cache_reuse',
  'n_keep',
  'n_predict',
  'priority',
  'request_id',
  'return_hidden_states',
  'rid',
  'routed_dp_rank',
  'session_id',
  'session_params',
  'slot_id',
  'ttl',
  'vllm_xargs',
];

/** Maxima of fields for which an engine reserves memory, whatever they state: llama.cpp's windows of tokens that penalties look at. */
const maxima: ReadonlyMap<string, number> = new Map([
  ['dry_penalty_last_n', 1_048_576],
  ['repeat_last_n', 1_048_576],
]);

/**
 * Returns a request without the fields that steer an engine, or let it reserve too much memory. Does not change `request`.
 * @param allowedFields names of steering fields that clients may set
 */
export function removeSteeringFields(request: JsonObject, allowedFields: readonly string[]): JsonObject {
  const isTooLarge = ([name, max]: [string, number]): boolean => Number(request[name]) > max;
  const droppedFields = [...steeringFields, ...[...maxima].filter(isTooLarge).map(([name]) => name)].filter(
    (name) => request[name] !== undefined && !allowedFields.includes(name),
  );
  if (droppedFields.length === 0) return request;
  const fields = { ...request };
  for (const name of droppedFields) delete fields[name];
  return fields;
}

/**
 * Adds a `cache_salt` that separates an owner's cached prompts from those of other owners. Otherwise `cached_tokens` and the time to the
 * first token would reveal other owners' prompts.
 */
export function addCacheSalt(request: JsonObject, ownerKey: string | undefined): JsonObject {
  if (ownerKey === undefined) return request;
  return { cache_salt: createHash('sha256').update(`prefix cache ${ownerKey}`).digest('base64url'), ...request };
}
