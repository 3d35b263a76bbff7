#!lua
-- claim: move those who have been idle for long into a queue, the longest first; who is queued is in `idle` no more.
-- KEYS     1 leader {epoch}   2 idle   3 queue
-- ARGV     1 epoch of the scheduler   2 idle since then or longer, ms   3 how many at most
-- returns  how many, or -1: another scheduler leads here
if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then return -1 end
local found = redis.call('ZRANGE', KEYS[2], '-inf', ARGV[2], 'BYSCORE', 'LIMIT', 0, ARGV[3], 'WITHSCORES')
if #found == 0 then return 0 end
local queue, gone = {}, {}
for i = 1, #found, 2 do
  gone[#gone + 1] = found[i]
  queue[#queue + 1], queue[#queue + 2] = found[i + 1], found[i]
end
redis.call('ZADD', KEYS[3], unpack(queue))
redis.call('ZREM', KEYS[2], unpack(gone))
return #gone
