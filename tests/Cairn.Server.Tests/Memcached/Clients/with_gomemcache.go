// Prints the replies that gomemcache gets from a server. Argument: PORT.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/bradfitz/gomemcache/memcache"
)

func main() {
	client := memcache.New("127.0.0.1:" + os.Args[1])
	client.Timeout = 30e9
	get := func(key string) {
		item, err := client.Get(key)
		if err != nil {
			fmt.Println("get", key, err)
		} else {
			fmt.Printf("get %s %.20q %d bytes, flags %d\n", key, item.Value, len(item.Value), item.Flags)
		}
	}
	item := func(key, value string) *memcache.Item { return &memcache.Item{Key: key, Value: []byte(value), Flags: 7} }

	fmt.Println("flush", client.DeleteAll())
	get("nothing")
	fmt.Println("set", client.Set(item("book", "Dune")))
	get("book")
	fmt.Println("add", client.Add(item("book", "x")), client.Add(item("new", "y")))
	fmt.Println("replace", client.Replace(item("new", "z")), client.Replace(item("nothing", "z")))
	held, err := client.Get("book")
	fmt.Println("held", err)
	held.Value = []byte("Emma")
	fmt.Println("cas", client.CompareAndSwap(held))
	held.Value = []byte("Persuasion")
	fmt.Println("cas again", client.CompareAndSwap(held))
	get("book")
	fmt.Println("number", client.Set(item("n", "10")))
	for _, delta := range []uint64{5, 1 << 63} {
		sum, err := client.Increment("n", delta)
		fmt.Println("increment", sum, err)
	}
	rest, err := client.Decrement("n", 1<<63+100)
	fmt.Println("decrement", rest, err)
	_, err = client.Increment("nothing", 1)
	fmt.Println("increment of nothing", err)
	_, err = client.Increment("book", 1)
	fmt.Println("increment of text", err)
	fmt.Println("touch", client.Touch("book", 100), client.Touch("nothing", 100))
	fmt.Println("delete", client.Delete("new"), client.Delete("new"))
	gone := item("gone", "x")
	gone.Expiration = -1
	fmt.Println("expired", client.Set(gone))
	get("gone")
	keys := []string{}
	for i := 0; i < 200; i++ {
		key := fmt.Sprintf("many:%03d", i)
		keys = append(keys, key)
		if i%2 == 0 {
			if err := client.Set(item(key, key)); err != nil {
				panic(err)
			}
		}
	}
	many, err := client.GetMulti(keys)
	found := []string{}
	for key := range many {
		found = append(found, key)
	}
	sort.Strings(found)
	fmt.Println("many", len(found), found[0], found[len(found)-1], err)
	fmt.Println("large", client.Set(item("large", strings.Repeat("x", 1000000))))
	get("large")
	fmt.Println("too large", client.Set(item("large", strings.Repeat("x", 2000000))))
	get("large")
	fmt.Println("bad key", client.Set(item("a key", "x")), client.Set(item(strings.Repeat("k", 251), "x")))
	fmt.Println("flush", client.FlushAll())
	get("book")
	fmt.Println("done")
}
