#!lua
-- settled: note when a ref is to be looked at again, and take it out of the outbox unless it was marked again meanwhile.
-- KEYS     1 term {latest epoch of the bot that wrote in this space}   2 open   3 outbox
-- ARGV     1 epoch, or '' for anybody   2 ref   3 when to look again, ms, 0 for never   4 its mark, as it was read
-- returns  1, or 0: it has another mark, or none; or -1: a later term has written here, so nothing was done
if ARGV[1] ~= '' then
  if tonumber(redis.call('GET', KEYS[1]) or 0) > tonumber(ARGV[1]) then return -1 end
  redis.call('SET', KEYS[1], ARGV[1])
end
if ARGV[3] == '0' then
  redis.call('ZREM', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
end
if tonumber(redis.call('ZSCORE', KEYS[3], ARGV[2])) ~= tonumber(ARGV[4]) then return 0 end
return redis.call('ZREM', KEYS[3], ARGV[2])
