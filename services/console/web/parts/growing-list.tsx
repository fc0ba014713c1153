import { Button, Group, Stack } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useApi, type ApiOptions } from '../api/use-api.ts';
import { Loaded } from './loaded.tsx';

/** Number of rows that are shown at first, and that each click adds. */
const pageSize = 50;

/** Maximum number of rows in one list, as the API permits. Earlier rows are shown in further lists below. */
const maxRowsInList = 500;

export interface GrowingListProps<Answer> extends Pick<ApiOptions<Answer>, 'everyMs'> {
  /** The API's path, with a query without `limit` and `after`. */
  path: string;
  /** The plural of what is listed, for example `batches`. */
  rowsName: string;
  /** Returns the ids of the rows in an answer, the newest first. */
  readIds: (answer: Answer) => readonly string[];
  /**
   * @param answeredAt the time of the answer, in ms since 1970
   * @param isFirst whether the answer has the newest rows
   */
  children: (answer: Answer, list: { answeredAt: number; isFirst: boolean }) => ReactNode;
  /** The id of the last row of the list above; absent for the list with the newest rows. */
  after?: string;
}

/** Shows rows that the API lists newest first. Each click shows earlier rows, first in this list and then in a further list below. */
export function GrowingList<Answer extends { more: boolean }>(props: GrowingListProps<Answer>) {
  const { path, rowsName, readIds, children, after, everyMs } = props;
  const [limit, setLimit] = useState(pageSize);
  const [showsNextList, setShowsNextList] = useState(false);
  const place = new URLSearchParams({ limit: String(limit), ...(after !== undefined && { after }) });
  const query = useApi<Answer>(`${path}&${place.toString()}`, { ...(everyMs !== undefined && { everyMs }) });
  const showMore = (): void => (limit < maxRowsInList ? setLimit(limit + pageSize) : setShowsNextList(true));
  return (
    <Loaded query={query} contentName={`the ${rowsName}`}>
      {(answer) => {
        const last = readIds(answer).at(-1);
        return (
          <Stack gap="xs">
            {children(answer, { answeredAt: query.dataUpdatedAt, isFirst: after === undefined })}
            {answer.more && !showsNextList ? (
              <Group justify="center">
                <Button variant="default" onClick={showMore}>
                  Show earlier {rowsName}
                </Button>
              </Group>
            ) : null}
            {answer.more && showsNextList && last !== undefined ? <GrowingList {...props} after={last} /> : null}
          </Stack>
        );
      }}
    </Loaded>
  );
}
