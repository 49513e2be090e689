/** What a user may do here beside what is theirs. */
export type Role = 'USER' | 'REGIONAL_ADMIN' | 'SYSTEM_ADMIN';
