import {
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  jetstreamManager,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { isApiError, withReplicas } from '../connection/on-enough-nodes.ts';

/** Milliseconds within which the broker must answer. The slowest call deletes an object of 512 MiB, in a fraction of a second. */
const answerMs = 5_000;

/** JetStream's error for a stream that exists with other settings. */
const streamNameInUse = 10058;
/** JetStream's error for a stream that does not exist. */
const streamNotFound = 10059;

/** JetStream's errors for a stream that is larger than the limit of the servers or the account, or than the room of any server. */
const noRoomCodes = [10002, 10005, 10023, 10028, 10047];

const minBytes = 16 * 1024 * 1024;

/**
 * The JetStream stream that stores objects, in files. It keeps one message of each subject, so a part that is stored twice exists once.
 * It refuses parts that exceed its size.
 */
export class ObjectStream {
  readonly #broker: Broker;
  readonly #maxBytes: number;
  readonly #log: Logger;
  #made: Promise<string> | undefined;

  /** @param maxBytes the size of the stream; less if the servers have less room */
  constructor(broker: Broker, maxBytes: number, log: Logger) {
    this.#broker = broker;
    this.#maxBytes = maxBytes;
    this.#log = log;
  }

  /**
   * Creates the stream, or updates it to these settings, unless that was done before.
   * @returns when the stream was created. If it was created at another time than before, it has none of the earlier parts
   */
  ensure(): Promise<string> {
    this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    });
    return this.#made;
  }

  /**
   * Returns when the existing stream was created.
   * @throws also if there is no stream
   */
  async madeAt(): Promise<string> {
    const { streams } = await this.#manager();
    return (await streams.info(this.#broker.subjects.objectStream)).created;
  }

  async recreate(): Promise<void> {
    this.#made = undefined;
    await this.ensure();
  }

  /**
   * Deletes all parts of an object.
   * @returns the number of deleted parts
   */
  async deleteObject(object: string): Promise<number> {
    const { objectStream, objectParts } = this.#broker.subjects;
    const { purged } = await (await this.#manager()).streams.purge(objectStream, { filter: objectParts(object) });
    return purged;
  }

  /** Returns what the leader of the stream has stored under a subject; undefined if nothing is stored there. */
  async find(subject: string): Promise<Uint8Array | undefined> {
    const { streams } = await this.#manager();
    try {
      return (await streams.getMessage(this.#broker.subjects.objectStream, { last_by_subj: subject }))?.data;
    } catch (error) {
      if (isApiError(error, streamNotFound)) return undefined;
      throw error;
    }
  }

  /** Creates the stream as large as the servers have room for, with copies on several nodes if there are enough. */
  async #make(): Promise<string> {
    const manager = await this.#manager();
    return withReplicas(this.#broker, async (copies) => {
      for (let maxBytes = this.#maxBytes; ; maxBytes = Math.max(minBytes, Math.floor(maxBytes / 2))) {
        try {
          const created = await this.#makeOn(manager, copies, maxBytes);
          if (maxBytes < this.#maxBytes)
            this.#log.warn({ maxBytes, wanted: this.#maxBytes }, 'NATS has less room for files than is set');
          return created;
        } catch (error) {
          if (maxBytes <= minBytes || !isApiError(error, ...noRoomCodes)) throw error;
        }
      }
    });
  }

  async #makeOn(manager: JetStreamManager, copies: number, maxBytes: number): Promise<string> {
    const { objectStream: name, allObjects } = this.#broker.subjects;
    const config = {
      name,
      subjects: [allObjects],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_msgs_per_subject: 1,
      max_bytes: maxBytes,
      allow_direct: true,
      num_replicas: copies,
    };
    // The update comes first, because if NATS has no room for a second stream, it refuses to add a stream even if that stream exists.
    const updated = await updateStream(manager, config);
    if (updated) return updated.created;
    try {
      return (await manager.streams.add(config)).created;
    } catch (error) {
      if (!isApiError(error, streamNameInUse)) throw error;
    }
    return (await manager.streams.update(name, config)).created;
  }

  #manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.#broker.nc, { checkAPI: false, timeout: answerMs });
  }
}

/** @returns undefined if there is no such stream */
async function updateStream(
  { streams }: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo | undefined> {
  try {
    return await streams.update(config.name, config);
  } catch (error) {
    if (isApiError(error, streamNotFound)) return undefined;
    throw error;
  }
}
