-- The process merges what waits in the index of messages every few seconds (chat/pending-list.ts); the limit, in
-- kilobytes, is for when it cannot.
ALTER INDEX chat_messages_by_piece SET (gin_pending_list_limit = 16384);
