/** Priority classes of requests, highest first. A key has one; it selects the lane in which a request waits. */
export const priorityClasses = ['high', 'normal', 'low'] as const;
export type PriorityClass = (typeof priorityClasses)[number];
