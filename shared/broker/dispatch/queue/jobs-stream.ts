import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos, TimeoutError } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import { formatConsumerName, type Lane } from '../../contract/subjects.ts';
import {
  createReplicated,
  isApiError,
  openJetStreamManager,
  streamNameInUse,
  streamNotFound,
} from '../../connection/jetstream.ts';

/** The limits of the queue. All dispatching processes of a cluster must use the same limits. */
export interface QueueSettings {
  /** Maximum tickets that wait in all lanes of a tier together. The broker refuses further tickets. */
  maxQueued: number;
  /** Milliseconds after which the broker drops a waiting ticket. The ticket's dispatcher gives the job up earlier. */
  maxAgeMs: number;
}

/** The sequence numbers of the first ticket in a stream and of the last ticket that it has stored. */
export interface StoredTicketRange {
  /** When the stream was created. If this time changes, the stream is new and has lost all earlier tickets. */
  createdAt: string;
  firstSeq: number;
  lastSeq: number;
  /** When the range was requested from the broker, in milliseconds of `performance.now()`. */
  requestedAt: number;
}

/** Milliseconds until a delivered ticket without an ack is delivered to another worker. */
const ackWaitMs = 3_000;

/** Milliseconds for which the broker keeps a lane without pulls. */
export const idleLaneMs = 10 * 60_000;

/**
 * Milliseconds within which the broker must answer. It answers within a few milliseconds or never: a request to a server that was just
 * lost, or to a cluster without a leader, is lost and must be repeated.
 */
const answerTimeoutMs = 2_000;

/** JetStream's error codes for a NATS cluster that is unavailable and for a server that is not its leader. */
const leaderlessCodes = [10008, 10009];

/**
 * Creates a tier's stream of tickets if there is none. Any number of processes may call this function, at the same time and repeatedly. The
 * stream is a work queue in memory, because tickets are only hints: their dispatcher publishes them again if the server has lost them.
 */
export async function ensureJobsStream(
  broker: Broker,
  tier: Tier,
  settings: QueueSettings,
): Promise<StoredTicketRange> {
  const manager = await openJetStreamManager(broker, answerTimeoutMs);
  const config = buildStreamConfig(broker, tier, settings);
  const requestedAt = performance.now();
  try {
    return toStoredRange(await manager.streams.info(config.name), requestedAt);
  } catch (error) {
    if (!isApiError(error, streamNotFound)) throw error;
  }
  return createReplicated(broker, async (copies) => {
    return toStoredRange(await manager.streams.add({ ...config, num_replicas: copies }), requestedAt);
  });
}

function toStoredRange({ created, state }: StreamInfo, requestedAt: number): StoredTicketRange {
  return { createdAt: created, firstSeq: state.first_seq, lastSeq: state.last_seq, requestedAt };
}

/**
 * Creates a tier's stream of tickets, or updates an existing one to these settings.
 * @returns the time at which the stream was created
 */
export async function configureJobsStream(broker: Broker, tier: Tier, settings: QueueSettings): Promise<string> {
  const manager = await openJetStreamManager(broker, answerTimeoutMs);
  const config = buildStreamConfig(broker, tier, settings);
  return createReplicated(broker, async (copies) => {
    try {
      return (await manager.streams.add({ ...config, num_replicas: copies })).created;
    } catch (error) {
      if (!isApiError(error, streamNameInUse)) throw error;
    }
    return (await manager.streams.update(config.name, { ...config, num_replicas: copies })).created;
  });
}

function buildStreamConfig(broker: Broker, tier: Tier, { maxQueued, maxAgeMs }: QueueSettings) {
  return {
    name: broker.subjects.stream(tier),
    subjects: [broker.subjects.jobsOf(tier)],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.Memory,
    discard: DiscardPolicy.New,
    max_msgs: maxQueued,
    max_age: nanos(maxAgeMs),
  };
}

/**
 * Whether JetStream cannot answer yet, because its servers have not elected a leader, or some of them are missing. A later try may succeed.
 */
export function isLeaderless(error: unknown): boolean {
  return error instanceof TimeoutError || isApiError(error, ...leaderlessCodes);
}

/**
 * Creates the durable consumers of a pool's lanes, unless they exist.
 * @throws if there is no stream, or no answer within two seconds
 */
export async function ensurePoolConsumers(broker: Broker, tier: Tier, pool: string): Promise<void> {
  const manager = await openJetStreamManager(broker, answerTimeoutMs);
  await Promise.all(priorityClasses.map((name) => ensureLaneConsumer(manager, broker, { tier, pool, class: name })));
}

/**
 * Creates the durable consumer of one lane, unless it exists. It delivers a ticket any number of times, because a ticket that a worker
 * gives back is still valid. The dispatcher limits the attempts of the job.
 */
async function ensureLaneConsumer(manager: JetStreamManager, broker: Broker, lane: Lane): Promise<void> {
  await manager.consumers.add(broker.subjects.stream(lane.tier), {
    durable_name: formatConsumerName(lane),
    filter_subject: broker.subjects.jobs(lane),
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_deliver: -1,
    max_ack_pending: -1,
    max_waiting: 4_096,
    inactive_threshold: nanos(idleLaneMs),
  });
}
