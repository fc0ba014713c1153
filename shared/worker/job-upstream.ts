import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, Reply } from '#shared/broker/contract/job-contract.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ParsedRequest } from '#shared/upstream/read-request.ts';
import type { WrittenRequest, UpstreamRoute } from '#shared/upstream/request-writer.ts';

/** A job whose body is parsed. The body may be large, so keep this object only until the upstream's request is written. */
export interface ParsedJob {
  job: GrantedJob;
  model: ModelInfo;
  read: ParsedRequest;
  signal: AbortSignal;
}

/** The functions of an upstream over HTTP that `createJobHandler` calls. They differ between engines and providers. */
export interface JobUpstream<Route extends UpstreamRoute, Request extends WrittenRequest> {
  /** The upstream's name in errors. */
  readonly noun: string;
  readonly models: () => readonly ModelInfo[];
  /** Called if the upstream refuses connections. */
  readonly onUnreachable?: (() => void) | undefined;
  /** Whether the lists in `job.unread` need not be parsed. */
  passesLists?(job: GrantedJob): boolean;
  /**
   * Chooses how a request reaches the upstream.
   * @param request the client's request
   * @throws RouterError `internal` if no translation is known
   */
  chooseRoute(job: GrantedJob, model: ModelInfo, request: JsonObject): Route;
  /**
   * Translates a request and writes it for the upstream.
   * @throws RouterError that names what the upstream cannot serve
   */
  prepare(parsed: ParsedJob, route: Route): Request | Promise<Request>;
  /** Counts the input tokens of a request without inference. */
  countInput(parsed: ParsedJob, route: Route): Promise<number>;
  /** Sends a request and writes the answer to `reply`. */
  send(request: Request, reply: Reply, signal: AbortSignal): Promise<JobEnd>;
}
