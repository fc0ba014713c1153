import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import type { Provider } from './provider.ts';
import { applyRules } from './request-rules.ts';

export interface ServedFormat {
  format: HttpUpstreamFormat;
  compacts?: boolean | undefined;
  encrypts?: boolean | undefined;
  /** Returns a copy of a translated request, changed so that the provider accepts it. */
  adapt: (request: JsonObject, model: ModelInfo) => JsonObject;
}

export type ProviderFormats = Pick<Provider, 'format' | 'otherFormats' | 'rules' | 'adaptation'>;

/** Returns the formats in which the provider serves a model, the main format first. The rules apply only to the main format. */
export function listServedFormats(provider: ProviderFormats, id: string): ServedFormat[] {
  const { format, otherFormats = [], rules, adaptation } = provider;
  const servedOthers = otherFormats
    .map((each) => ({ ...each, role: each.serves(id) }))
    .filter(({ role }) => role !== 'not');
  const formats = servedOthers.map(({ format: other, compacts, encrypts, adaptation: change }) => ({
    format: other,
    compacts,
    encrypts,
    adapt: (request: JsonObject, model: ModelInfo) => change?.apply(request, model) ?? request,
  }));
  if (servedOthers.some(({ role }) => role === 'only')) return formats;
  const adapt = (request: JsonObject, model: ModelInfo): JsonObject => {
    const ruledRequest = applyRules(request, rules);
    return adaptation?.apply(ruledRequest, model) ?? ruledRequest;
  };
  return [{ format, adapt }, ...formats];
}
