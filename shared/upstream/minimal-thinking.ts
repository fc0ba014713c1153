import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** The lowest efforts that a request can ask for. Models that must think refuse `none`, and many other models refuse `minimal`. */
export type MinimalEffort = 'none' | 'minimal';

/** Efforts that may replace a refused effort, lowest first. */
const acceptableEfforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** An effort that nearly every model with efforts accepts. */
const usualEffort = 'low';

/**
 * Returns the effort of a request that asks for no thinking or minimal thinking; undefined for any other request. Reads the fields of all
 * upstream formats.
 */
export function readMinimalEffort({
  reasoning_effort: effort,
  reasoning,
  thinking,
}: JsonObject): MinimalEffort | undefined {
  const { effort: nested, enabled, max_tokens: budget } = isJsonObject(reasoning) ? reasoning : {};
  const efforts = [effort, nested];
  const isOff = isJsonObject(thinking) && thinking['type'] === 'disabled';
  if (isOff || efforts.some((each) => each === 'none' || each === 0) || enabled === false || budget === 0)
    return 'none';
  return efforts.includes('minimal') ? 'minimal' : undefined;
}

/**
 * Returns the effort that replaces an effort that an upstream has refused: the lowest that the error lists, or `low` if the error lists
 * none. Returns undefined if the error has another reason.
 */
export function chooseAcceptedEffort(error: unknown, refused: MinimalEffort): string | undefined {
  if (!(error instanceof RouterError) || error.code !== 'invalid_request') return undefined;
  const { param = '', message } = error;
  if (!/reason|think|effort/i.test(`${param} ${message}`) && !message.includes(`'${refused}'`)) return undefined;
  const [, list = ''] = /supported values are:? (.+)/i.exec(message) ?? [];
  return acceptableEfforts.find((each) => each !== refused && list.includes(`'${each}'`)) ?? usualEffort;
}

/**
 * Copies a request with `effort` in place of no thinking or minimal thinking.
 * @param hasBudgets whether the request's format has both thinking budgets (`thinking`) and efforts (`output_config`)
 */
export function replaceEffort(request: JsonObject, effort: string, hasBudgets: boolean): JsonObject {
  const changed = { ...request };
  const { reasoning_effort: requested, reasoning, thinking, output_config: config } = request;
  if (isMinimal(requested)) changed['reasoning_effort'] = effort;
  if (isJsonObject(reasoning)) {
    const { enabled, max_tokens: budget, ...rest } = reasoning;
    changed['reasoning'] = {
      ...rest,
      ...(enabled !== undefined && enabled !== false && { enabled }),
      ...(budget !== undefined && budget !== 0 && { max_tokens: budget }),
      ...(isMinimal(reasoning['effort']) && { effort }),
    };
  }
  if (!isJsonObject(thinking) || thinking['type'] !== 'disabled') return changed;
  // Without this field, a model that must think does so.
  delete changed['thinking'];
  if (hasBudgets) changed['output_config'] = { effort, ...(isJsonObject(config) && config) };
  return changed;
}

function isMinimal(effort: unknown): boolean {
  return effort === 'none' || effort === 'minimal' || effort === 0;
}
