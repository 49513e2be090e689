-- By which a client that follows a further GeoID learns of an erasure: the packet is not found by that GeoID any more.
CREATE INDEX packet_log_erased ON packet_log (position) WHERE kind = 'erased';
