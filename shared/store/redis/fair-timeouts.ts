import { Command, Redis } from 'ioredis';

/*
 * Replaces two timers of the library on all of its connections: the timeout of a command, and the timeout of a socket. Node runs timers
 * before it reads sockets. So after this process was blocked for a second, the library's own timers would fail commands and close
 * connections although the answers had arrived.
 */

/**
 * Starts a timer. When it is due, the data that has arrived at the socket is read before `onDue` is called. If this process was blocked for
 * long, it may not even have sent the command, so the timer starts again, once.
 * @param onDue called with the timer; must check whether an answer has arrived meanwhile
 */
function startTimer(ms: number, onDue: (timer: NodeJS.Timeout) => void): NodeJS.Timeout {
  const dueAt = performance.now() + ms;
  let hasRestarted = false;
  const timer = setTimeout(() => {
    const wasBlocked = performance.now() - dueAt > ms / 4;
    if (hasRestarted || !wasBlocked) setImmediate(() => onDue(timer));
    else {
      hasRestarted = true;
      timer.refresh();
    }
  }, ms);
  return timer;
}

/** Fails a command that gets no answer, as the library's method does. The library clears the timer when the command is settled. */
Command.prototype.setTimeout = function setCommandTimeout(this: Command, ms: number): void {
  this['_commandTimeoutTimer'] ??= startTimer(ms, () => {
    if (!this.isSettled) this.reject(new Error('Command timed out'));
  });
};

/** Closes a connection that has waiting commands and receives nothing for `socketTimeout` ms, as the library's method does. */
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
