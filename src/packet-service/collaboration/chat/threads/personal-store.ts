import type pg from 'pg';
import sql from 'sql-template-tag';

/** A thread that a user takes part in, or created. */
export interface PersonalThread {
  threadId: string;
  name: string;
  createdBy: string;
  createdAt: Date;
  participants: string[];
  /** position in the log up to which the user has read it, as the driver gives a bigint; null without a mark */
  readPosition: string | null;
}

export function threadsOf(userId: string): pg.QueryConfig {
  return sql`
    SELECT thread_id AS "threadId", name, created_by AS "createdBy", created_at AS "createdAt",
      ARRAY(SELECT user_id FROM chat_participants AS all_of_them
        WHERE all_of_them.thread_id = chat_threads.thread_id ORDER BY user_id) AS participants,
      (SELECT read_position FROM chat_participants AS own
        WHERE own.thread_id = chat_threads.thread_id AND own.user_id = ${userId}) AS "readPosition"
    FROM chat_threads
    WHERE author = ${userId} OR created_by = ${userId}
      OR thread_id IN (SELECT thread_id FROM chat_participants WHERE user_id = ${userId})
    ORDER BY thread_id`;
}
