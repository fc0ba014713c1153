/**
 * What Node is told for every service.
 *
 * Many requests are in work at once, and each leaves short-lived objects behind. In a young space of V8's default size
 * (16 MiB) they are copied before their requests are over; in a larger one most of them just die. With 64 MiB, a tenth to
 * a sixth less CPU was measured with 32 requests at a time; half of that serves as many requests a second, and keeps
 * resident memory flat (some 50 bytes a request over 200,000, where 64 MiB left 127).
 *
 * Where most objects of one place in the code have outlived a collection, V8 makes the next ones in the old generation
 * at once. While a service warms up, with many requests in work and few done, it can come to that for objects of a
 * request; and then each keeps its whole request until the next full collection. One start of an ingress in eight did
 * so, and took a sixth more CPU from then on.
 *
 * V8 also saves memory: it throws away code that was not run for some collections, and in the collections of a rest the
 * shapes (its maps) of objects of which none is left, and with them all compiled code that stands on them. So what comes
 * after a rest starts from the interpreter. After a rest of 45 seconds, 200 requests one after the other took 3.4 ms each
 * and 3.1 ms of CPU; without both savings 1.2 and 1.0. The price is that a service keeps the memory that it had under load:
 * 210–240 MiB after 100,000 requests, where it went back to 130–150.
 *
 * @type {readonly string[]}
 */
export const serviceNodeFlags = [
  '--max-semi-space-size=32',
  '--no-allocation-site-pretenuring',
  '--no-flush-bytecode',
  '--no-memory-reducer-favors-memory',
];
