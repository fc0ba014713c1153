/** Priorities of requests, highest first. A key carries one; it decides which lane of the broker a request waits in. */
export const priorityClasses = ['high', 'normal', 'low'] as const;
export type PriorityClass = (typeof priorityClasses)[number];
