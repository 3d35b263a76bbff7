#!lua
-- card: write copies of a card; without any, give those there are, for who is going to write.
-- KEYS     1 term {latest epoch of the bot that wrote in this space}   2 card
-- ARGV     1 epoch, or '' for anybody   2 life, ms   then pairs: token, copy
-- returns  the copies there are, if none was given; or -1: a later term has been here, so nothing was done
if ARGV[1] ~= '' then
  if tonumber(redis.call('GET', KEYS[1]) or 0) > tonumber(ARGV[1]) then return -1 end
  redis.call('SET', KEYS[1], ARGV[1])
end
if #ARGV == 2 then return redis.call('HVALS', KEYS[2]) end
for i = 3, #ARGV, 2 do
  redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
