import { Command, Redis } from 'ioredis';

/*
 * Replaces the two timers by which the library judges Redis, for all of its connections. Timers run before sockets are read, so after this
 * process has stood still for a second, the library's own timers would fail commands and close connections although the answers had come.
 */

/**
 * Calls back after a time in which Redis has not answered. What lies in the socket is read first. If this process has stood still for long,
 * it may not even have sent the command, so the time begins again, once.
 * @param onDue called with the timer; it finds out whether an answer has come meanwhile
 */
function startTimer(ms: number, onDue: (timer: NodeJS.Timeout) => void): NodeJS.Timeout {
  const dueAt = performance.now() + ms;
  let hasBegunAgain = false;
  const timer = setTimeout(() => {
    const stoodStill = performance.now() - dueAt > ms / 4;
    if (hasBegunAgain || !stoodStill) setImmediate(() => onDue(timer));
    else {
      hasBegunAgain = true;
      timer.refresh();
    }
  }, ms);
  return timer;
}

/** Does what the library's method does. The library clears the timer when the command is settled. */
Command.prototype.setTimeout = function setCommandTimeout(this: Command, ms: number): void {
  this['_commandTimeoutTimer'] ??= startTimer(ms, () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  });
};

/** Does what the library's method does: closes a connection on which commands wait, and nothing has come for the time of the option. */
Redis.prototype['setSocketTimeout'] = function setSocketTimeout(this: Redis): void {
  const { stream, options } = this;
  const { socketTimeout = 0 } = options;
  this['socketTimeoutTimer'] = startTimer(socketTimeout, (timer) => {
    if (this['socketTimeoutTimer'] !== timer) return;
    this['socketTimeoutTimer'] = undefined;
    stream.destroy(new Error(`Redis has sent nothing for ${socketTimeout} ms.`));
  });
  // The library reads the data first, so the number of waiting commands is up to date here.
  stream.once('data', () => {
    clearTimeout(this['socketTimeoutTimer']);
    this['socketTimeoutTimer'] = undefined;
    if (this['commandQueue'].length > 0) this['setSocketTimeout']();
  });
};
