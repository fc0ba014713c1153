import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { readRequest } from '#shared/upstream/read-request.ts';
import type { WrittenRequest, UpstreamRoute } from '#shared/upstream/request-writer.ts';
import { isUnreachable, toJobError } from '#shared/upstream/upstream-failure.ts';
import type { JobUpstream } from './job-upstream.ts';

/**
 * Creates the handler that serves jobs with an upstream over HTTP. The handler reads the request, prepares it for the upstream, sends it,
 * and reports failures as errors for the client.
 */
export function createJobHandler<Route extends UpstreamRoute, Request extends WrittenRequest>(
  upstream: JobUpstream<Route, Request>,
): JobHandler {
  return async function handleJob(job, reply, signal) {
    const model = upstream.models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The ${upstream.noun} no longer serves ${job.model}.`);
    try {
      if (job.operation === 'count_tokens') return await answerCount(upstream, job, model, reply, signal);
      const request = await prepareRequest(upstream, job, model, signal);
      return await upstream.send(request, reply, signal);
    } catch (error) {
      if (isUnreachable(error)) upstream.onUnreachable?.();
      throw toJobError(error, signal);
    }
  };
}

/** Prepares the upstream's request. This is a separate function, so that the client's request is not kept while the answer runs. */
async function prepareRequest<Route extends UpstreamRoute, Request extends WrittenRequest>(
  upstream: JobUpstream<Route, Request>,
  job: GrantedJob,
  model: ModelInfo,
  signal: AbortSignal,
): Promise<Request> {
  const unread = job.unread && upstream.passesLists?.(job) === true ? job.unread.lists : undefined;
  const read = readRequest(job, unread);
  return upstream.prepare({ job, model, read, signal }, upstream.chooseRoute(job, model, read.request));
}

async function answerCount<Route extends UpstreamRoute, Request extends WrittenRequest>(
  upstream: JobUpstream<Route, Request>,
  job: GrantedJob,
  model: ModelInfo,
  reply: Reply,
  signal: AbortSignal,
): Promise<JobEnd> {
  const read = readRequest(job);
  const route = upstream.chooseRoute(job, model, read.request);
  const count = await upstream.countInput({ job, model, read, signal }, route);
  reply.write(JSON.stringify(route.translation.client.countAnswer?.(count) ?? {}));
  return { usage: noUsage, finishReason: 'stop' };
}
