import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  jetstreamManager,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos, TimeoutError } from '@nats-io/transport-node';
import type { Broker } from '../../connection/connect-broker.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import { consumerName, type Lane } from '../../contract/subjects.ts';
import { isApiError, withReplicas } from '../../connection/on-enough-nodes.ts';

/** The limits of the queue, which are the same for all nodes of a cluster. */
export interface QueueSettings {
  /** Maximum tickets that may wait in all lanes of a tier together. Further tickets are refused. */
  maxQueued: number;
  /** Milliseconds after which a waiting ticket is dropped. Its dispatcher has given the job up before. */
  maxAgeMs: number;
}

/** The range of ticket numbers that a stream has stored. */
export interface StoredTicketRange {
  /** When the stream was created. If it was created at another time than before, it has none of the earlier tickets. */
  created: string;
  firstSeq: number;
  lastSeq: number;
  /** When the range was requested from the broker, in milliseconds of `performance.now()`. */
  askedAt: number;
}

/** Milliseconds until a delivered ticket without an ack is delivered to another worker. */
const ackWaitMs = 3_000;

/** Milliseconds for which the broker keeps a lane that nobody pulls from. */
export const idleLaneMs = 10 * 60_000;

/**
 * Milliseconds within which the broker must answer. It answers within a few milliseconds or never. A request to a server that has just been
 * lost, or to a cluster without a leader, gets lost and is repeated.
 */
const answerMs = 2_000;

/** JetStream's error for a stream that exists with other settings. */
const streamNameInUse = 10058;
/** JetStream's error for a stream that does not exist. */
const streamNotFound = 10059;

/** JetStream's errors for a cluster that is not available, and for a server that is not its leader. */
const leaderless = [10008, 10009];

/**
 * Creates a tier's stream of tickets if there is none. Safe to call from many nodes at once, and often. The stream is a work queue in
 * memory, because tickets are only hints, and their dispatcher publishes them again if the server has lost them.
 */
export async function ensureJobsStream(
  broker: Broker,
  tier: Tier,
  settings: QueueSettings,
): Promise<StoredTicketRange> {
  const manager = await openManager(broker);
  const config = jobsStream(broker, tier, settings);
  const askedAt = performance.now();
  try {
    return heldTickets(await manager.streams.info(config.name), askedAt);
  } catch (error) {
    if (!isApiError(error, streamNotFound)) throw error;
  }
  return withReplicas(broker, async (copies) => {
    return heldTickets(await manager.streams.add({ ...config, num_replicas: copies }), askedAt);
  });
}

function heldTickets({ created, state }: StreamInfo, askedAt: number): StoredTicketRange {
  return { created, firstSeq: state.first_seq, lastSeq: state.last_seq, askedAt };
}

/**
 * Creates a tier's stream of tickets, or updates an existing one to these settings.
 * @returns when the stream was created
 */
export async function configureJobsStream(broker: Broker, tier: Tier, settings: QueueSettings): Promise<string> {
  const manager = await openManager(broker);
  const config = jobsStream(broker, tier, settings);
  return withReplicas(broker, async (copies) => {
    try {
      return (await manager.streams.add({ ...config, num_replicas: copies })).created;
    } catch (error) {
      if (!isApiError(error, streamNameInUse)) throw error;
    }
    return (await manager.streams.update(config.name, { ...config, num_replicas: copies })).created;
  });
}

function jobsStream(broker: Broker, tier: Tier, { maxQueued, maxAgeMs }: QueueSettings) {
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

/** Whether JetStream cannot answer yet, because its servers have not elected a leader, or are not all there. A later try may succeed. */
export function isLeaderless(error: unknown): boolean {
  return error instanceof TimeoutError || leaderless.some((code) => isApiError(error, code));
}

/**
 * Creates the durable consumers of a pool's lanes.
 * @throws if there is no stream, or no answer within two seconds
 */
export async function ensurePoolConsumers(broker: Broker, tier: Tier, pool: string): Promise<void> {
  const manager = await openManager(broker);
  await Promise.all(priorityClasses.map((name) => ensureLaneConsumer(manager, broker, { tier, pool, class: name })));
}

/**
 * Creates the durable consumer of one lane. Deliveries are not limited, because a ticket that workers give back is still valid, and its
 * dispatcher limits the attempts of the job.
 */
async function ensureLaneConsumer(manager: JetStreamManager, broker: Broker, lane: Lane): Promise<void> {
  await manager.consumers.add(broker.subjects.stream(lane.tier), {
    durable_name: consumerName(lane),
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

function openManager(broker: Broker): Promise<JetStreamManager> {
  return jetstreamManager(broker.nc, { checkAPI: false, timeout: answerMs });
}
