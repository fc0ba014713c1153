import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** The lowest efforts that a request can ask for. Models that must think refuse `none`, many others refuse `minimal`. */
export type MinimalEffort = 'none' | 'minimal';

/** The efforts that may replace a refused one, lowest first. */
const efforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** An effort that nearly every model with efforts takes. */
const usualEffort = 'low';

/**
 * Returns the effort of an upstream's request that asks its model for no or minimal thinking; undefined for any other request. Reads the
 * fields of all formats.
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
 * Returns the lowest effort that a model takes, if an error is its refusal of a lower one. That is the lowest that the upstream lists,
 * otherwise `low`; undefined for an error of any other kind.
 */
export function chooseAcceptedEffort(error: unknown, refused: MinimalEffort): string | undefined {
  if (!(error instanceof RouterError) || error.code !== 'invalid_request') return undefined;
  const { param = '', message } = error;
  if (!/reason|think|effort/i.test(`${param} ${message}`) && !message.includes(`'${refused}'`)) return undefined;
  const [, list = ''] = /supported values are:? (.+)/i.exec(message) ?? [];
  return efforts.find((each) => each !== refused && list.includes(`'${each}'`)) ?? usualEffort;
}

/**
 * Returns a copy of a request with another effort in place of the lowest ones.
 * @param hasBudgets whether the request's format has budgets of thinking (`thinking`), and efforts beside them (`output_config`)
 */
export function withEffort(request: JsonObject, effort: string, hasBudgets: boolean): JsonObject {
  const changed = { ...request };
  const { reasoning_effort: stated, reasoning, thinking, output_config: config } = request;
  if (isLeast(stated)) changed['reasoning_effort'] = effort;
  if (isJsonObject(reasoning)) {
    const { enabled, max_tokens: budget, ...rest } = reasoning;
    changed['reasoning'] = {
      ...rest,
      ...(enabled !== undefined && enabled !== false && { enabled }),
      ...(budget !== undefined && budget !== 0 && { max_tokens: budget }),
      ...(isLeast(reasoning['effort']) && { effort }),
    };
  }
  if (!isJsonObject(thinking) || thinking['type'] !== 'disabled') return changed;
  // A model that must think does so without this field.
  delete changed['thinking'];
  if (hasBudgets) changed['output_config'] = { effort, ...(isJsonObject(config) && config) };
  return changed;
}

function isLeast(effort: unknown): boolean {
  return effort === 'none' || effort === 'minimal' || effort === 0;
}
