import { formatHostedCapability, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, Reply } from '#shared/broker/contract/job-contract.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { findTranslation, type Translation } from '#shared/translate/translation.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import { createUnseal } from '#shared/upstream/create-answer-context.ts';
import { readMinimalEffort, replaceEffort } from '#shared/upstream/minimal-thinking.ts';
import { ModelRefusals } from '#shared/upstream/model-refusals.ts';
import { relayAnswer } from '#shared/upstream/relay-answer.ts';
import type { RelayedUpstream } from '#shared/upstream/relay.ts';
import { createRequestHeaders, RequestWriter } from '#shared/upstream/request-writer.ts';
import { countedFormat, TokenCounter } from '#shared/upstream/token-counter.ts';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import type { JobUpstream, ParsedJob } from '#shared/worker/job-upstream.ts';
import { countTokens } from './count-tokens.ts';
import { ProviderRoutes, type ProviderRoute } from './providers/provider-routes.ts';
import type { Provider } from './providers/provider.ts';
import { dropCostlyTier } from './providers/request-rules.ts';
import {
  isFormatRefused,
  RefusalRetry,
  sendWithRetries,
  type ProviderRequest,
  type RequestChanges,
} from './refusal-retry.ts';

export interface ProviderUpstreamOptions extends Pick<RelayedUpstream, 'timeouts' | 'traceName' | 'onHead'> {
  http: UpstreamHttp;
  provider: Provider;
  translations: readonly Translation[];
  models: () => readonly ModelInfo[];
  /** Origin of the provider account in the answer context, see `AnswerContext.origin`. */
  origin: string | undefined;
  /** Whether clients may name prompts that are stored in the provider's account. */
  takesPrompts: boolean;
  /** Values of `service_tier` with another price that clients may use; all others with another price are dropped. */
  passedTiers?: readonly string[];
}

/** The parts of a route that a translated request depends on. */
type TranslationRoute = Pick<ProviderRoute, 'translation' | 'adapt' | 'compacts' | 'encrypts'>;

const noChanges: RequestChanges = {};

/** Serves jobs with one provider. */
export class ProviderUpstream implements JobUpstream<ProviderRoute, ProviderRequest> {
  readonly noun = 'provider';
  readonly models: ProviderUpstreamOptions['models'];
  readonly #options: ProviderUpstreamOptions;
  readonly #routes: ProviderRoutes;
  readonly #counter = new TokenCounter(undefined);
  readonly #writer: RequestWriter;
  readonly #refusals = new ModelRefusals();

  constructor(options: ProviderUpstreamOptions) {
    const { provider, translations, origin } = options;
    this.models = options.models;
    this.#options = options;
    this.#routes = new ProviderRoutes(provider, translations);
    this.#writer = new RequestWriter(this.#counter, origin);
  }

  chooseRoute({ format: client }: GrantedJob, { id }: ModelInfo, request: JsonObject): ProviderRoute {
    return this.#routes.choose(id, client, (format) => isFormatRefused(this.#refusals, id, format, request));
  }

  /** Returns the route to take if the provider lacks the path of `route`; undefined if there is no other. */
  findOtherRoute({ job, model: { id }, read }: ParsedJob, route: ProviderRoute): ProviderRoute | undefined {
    const isRefused = (format: string): boolean =>
      format === route.format.name || isFormatRefused(this.#refusals, id, format, read.request);
    const other = this.#routes.choose(id, job.format, isRefused);
    return other === route ? undefined : other;
  }

  prepare(parsed: ParsedJob, route: ProviderRoute, changes = noChanges): ProviderRequest {
    const { job, model } = parsed;
    const translated = this.#translate(parsed, route);
    const leastEffort = readMinimalEffort(translated);
    const effort = leastEffort && (changes.effort ?? this.#refusals.findReplacement(model.id, leastEffort));
    const request =
      effort === undefined ? translated : replaceEffort(translated, effort, route.format === messagesUpstream);
    const written: ProviderRequest = this.#writer.write(parsed, route, request);
    const refusableEffort = effort === undefined ? leastEffort : undefined;
    const hasOtherRoute = changes.isInOtherFormat !== true && this.#routes.list(model.id, job.format).length > 1;
    if (!hasOtherRoute && refusableEffort === undefined) return written;
    written.retry = new RefusalRetry({ preparer: this, parsed, route, changes, leastEffort: refusableEffort });
    written.onStatus = written.retry.noteStatus;
    return written;
  }

  /** Returns the token count of the provider if it has a path that counts, otherwise the count of the worker's tokenizer. */
  async countInput(parsed: ParsedJob, route: ProviderRoute): Promise<number> {
    const { job, model, signal } = parsed;
    const { http, translations } = this.#options;
    const { format } = route;
    const headers = createRequestHeaders(route, job);
    const providerCount =
      format.count && (await countTokens(http, format, this.#translate(parsed, route), headers, signal));
    if (providerCount !== undefined) return providerCount;
    const countedRoute = this.#routes.list(model.id, job.format).find((each) => each.format === countedFormat) ?? {
      translation: findTranslation(translations, job.format, countedFormat),
      adapt: (request) => request,
    };
    return this.#counter.count(this.#translate(parsed, countedRoute), model.id, signal);
  }

  send(request: ProviderRequest, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const upstream = this.#options;
    if (!request.retry) return relayAnswer({ upstream, request, reply, signal });
    const send = (each: ProviderRequest) => relayAnswer({ upstream, request: each, reply, signal });
    return sendWithRetries(request, send, this.#refusals, signal);
  }

  #translate({ job, model, read }: ParsedJob, route: TranslationRoute): JsonObject {
    const { provider, origin, takesPrompts, passedTiers = [] } = this.#options;
    const { translation, adapt, compacts, encrypts } = route;
    const { takesFiles, takesCustomTools } = provider;
    const { id, maxOutput, thinkingTypes, capabilities } = model;
    const searches = capabilities.includes(formatHostedCapability('web_search', job.format));
    const traits = {
      model: id,
      maxOutput,
      thinkingTypes,
      origin,
      takesFiles,
      takesCustomTools,
      takesPrompts,
      searches,
      compacts,
      encrypts,
      unseal: createUnseal(job),
    };
    return dropCostlyTier(adapt(translation.translateRequest(read.request, traits), model), passedTiers);
  }
}
