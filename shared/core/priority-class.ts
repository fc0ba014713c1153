/** Priority classes of requests, highest first. Each key has a class, which selects the lane in which its requests wait. */
export const priorityClasses = ['high', 'normal', 'low'] as const;
export type PriorityClass = (typeof priorityClasses)[number];
