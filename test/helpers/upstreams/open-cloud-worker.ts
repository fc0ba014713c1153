import type { JsonObject } from '#shared/core/json.ts';
import { translations } from '#shared/translate/translations.ts';
import { createJobHandler } from '#shared/worker/create-job-handler.ts';
import { ProviderUpstream, type ProviderUpstreamOptions } from '#services/cloud-worker/provider-upstream.ts';
import { connectProvider } from '#services/cloud-worker/providers/connect-provider.ts';
import type { Provider } from '#services/cloud-worker/providers/provider.ts';
import { collectAnswer, grantedJob } from '../broker/collect-answer.ts';
import { longTimeouts } from '../broker/run-job.ts';
import { stopAfterTest } from '../stop-after-test.ts';

/** Opens a cloud worker without a broker, for an upstream in place of its provider, until the end of the running test. */
export function openCloudWorker(
  provider: Provider,
  url: string,
  options: Partial<ProviderUpstreamOptions> & Pick<ProviderUpstreamOptions, 'models'>,
) {
  const key = { PROVIDER_KEY: 'k', PROVIDER_KEY_HEADER: undefined };
  const settings = { PROVIDER_URL: url, ...key, SLOTS: 4 };
  const upstream = new ProviderUpstream({
    http: stopAfterTest(connectProvider(provider, settings, {})),
    provider,
    translations,
    traceName: 'test',
    timeouts: longTimeouts,
    origin: 'here',
    takesPrompts: false,
    onHead: () => undefined,
    ...options,
  });
  const handle = createJobHandler(upstream);
  const heads: object[] = [];
  return {
    /** The headers of its answers, in order. */
    heads,
    run: async (format: string, model: string, body: JsonObject) => {
      const job = grantedJob(model, { format, body: { ...body, model } });
      const { write, text } = collectAnswer();
      const end = await handle(job, { addHeaders: (head) => heads.push(head), write }, new AbortController().signal);
      return { end, text: text() };
    },
  };
}
