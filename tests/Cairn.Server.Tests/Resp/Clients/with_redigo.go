// Prints the replies that redigo gets from a server. Argument: PORT.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

func text(value interface{}) string {
	switch value := value.(type) {
	case nil:
		return "nil"
	case []byte:
		return fmt.Sprintf("%q", value)
	case []interface{}:
		texts := make([]string, len(value))
		for i, item := range value {
			texts[i] = text(item)
		}
		return "[" + strings.Join(texts, " ") + "]"
	default:
		return fmt.Sprintf("%v", value)
	}
}

func main() {
	address := "127.0.0.1:" + os.Args[1]
	pool := &redis.Pool{MaxIdle: 4, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", address, redis.DialConnectTimeout(30*time.Second), redis.DialReadTimeout(30*time.Second))
	}}
	connection := pool.Get()
	do := func(words ...interface{}) interface{} {
		reply, err := connection.Do(words[0].(string), words[1:]...)
		if err != nil {
			return err
		}
		return reply
	}
	show := func(words ...interface{}) { fmt.Println(words[0], text(do(words...))) }

	for _, command := range [][]interface{}{
		{"FLUSHALL"}, {"PING"}, {"PING", "hello"}, {"ECHO", "hello"},
		{"SET", "book", "Dune"}, {"SET", "book", "x", "NX"}, {"SET", "book", "Emma", "EX", 100, "GET"}, {"GET", "book"}, {"GET", "nothing"},
		{"GETRANGE", "book", 1, 2}, {"STRLEN", "book"}, {"APPEND", "book", "!"}, {"GETDEL", "book"}, {"EXISTS", "book"},
		{"MSET", "a", 1, "b", 2}, {"MGET", "a", "b", "nothing"}, {"MSETNX", "a", 1, "c", 2},
		{"INCR", "n"}, {"INCRBY", "n", 41}, {"INCRBYFLOAT", "f", 0.5}, {"SET", "t", "text"}, {"INCR", "t"}, {"HGET", "t", "f"}, {"NONSENSE", "x"}, {"GET"},
		{"EXPIRE", "a", 100}, {"PERSIST", "a"}, {"TTL", "a"}, {"TTL", "nothing"}, {"SETEX", "e", 100, "v"}, {"SETNX", "e", "w"},
		{"RENAME", "a", "z"}, {"TYPE", "z"}, {"UNLINK", "z", "nothing"}, {"DBSIZE"},
		{"HSET", "h", "f", "v", "g", 1}, {"HMGET", "h", "f", "x"}, {"HGETALL", "h"}, {"HINCRBY", "h", "g", 2}, {"HDEL", "h", "f", "x"}, {"HLEN", "h"},
		{"SADD", "s", "a"}, {"SMEMBERS", "s"}, {"ZADD", "zs", 1.5, "a"}, {"ZRANGE", "zs", 0, -1, "WITHSCORES"},
	} {
		show(command...)
	}

	for i := 0; i < 300; i++ {
		connection.Send("SET", fmt.Sprintf("scan:%03d", i), i)
	}
	show("GET", "scan:007")
	found := map[string]bool{}
	for cursor := "0"; ; {
		page, err := redis.Values(connection.Do("SCAN", cursor, "MATCH", "scan:*", "COUNT", 50))
		if err != nil {
			panic(err)
		}
		var keys []string
		if _, err = redis.Scan(page, &cursor, &keys); err != nil {
			panic(err)
		}
		for _, key := range keys {
			found[key] = true
		}
		if cursor == "0" {
			break
		}
	}
	all := []string{}
	for key := range found {
		all = append(all, key)
	}
	sort.Strings(all)
	fmt.Println("scan", len(all), all[0], all[len(all)-1])

	connection.Send("MULTI")
	connection.Send("SET", "m", 1)
	connection.Send("INCR", "m")
	show("EXEC")
	other := pool.Get()
	show("WATCH", "w")
	if _, err := other.Do("SET", "w", "changed"); err != nil {
		panic(err)
	}
	connection.Send("MULTI")
	connection.Send("SET", "w", "mine")
	show("EXEC")
	show("GET", "w")

	script := redis.NewScript(1, `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`)
	for _, token := range []string{"mine", "changed"} {
		reply, err := script.Do(connection, "w", token)
		fmt.Println("script", text(reply), err)
	}

	subscriber := redis.PubSubConn{Conn: pool.Get()}
	if err := subscriber.Subscribe("news"); err != nil {
		panic(err)
	}
	for heard := false; !heard; {
		switch message := subscriber.Receive().(type) {
		case redis.Subscription:
			fmt.Println("subscription", message.Kind, message.Channel, message.Count)
			if message.Kind == "subscribe" {
				other.Do("PUBLISH", "news", "one")
			} else {
				heard = true
			}
		case redis.Message:
			fmt.Printf("message %s %s\n", message.Channel, message.Data)
			subscriber.Unsubscribe()
		case error:
			panic(message)
		}
	}
	show("SET", "large", strings.Repeat("x", 1000000))
	large, err := redis.String(connection.Do("GET", "large"))
	fmt.Println("large", len(large), err)
	show("FLUSHDB")
	show("DBSIZE")
	fmt.Println("done")
}
