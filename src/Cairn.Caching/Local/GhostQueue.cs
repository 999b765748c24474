using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Cairn.Caching.Local;

// Which keys left the small queue lately, by 32 bits of their hashes and in the order in which they left: a key that comes
// back soon belongs into the main queue. Two keys with the same bits are taken for one, which only lets a key into the wrong
// queue. Guarded by the shard's lock.
//
// A table of chains and a doubly linked list over one array of nodes, linked by index: nothing here is for the garbage
// collector to follow. Nodes that are not in use are chained as well.
internal sealed class GhostQueue
{
    private const int None = -1;
    private const int SmallestCapacity = 16;

    private Node[] _nodes = [];
    private int[] _buckets = [];
    private int _free = None;
    private int _oldest = None;
    private int _newest = None;

    public int Count { get; private set; }

    /// <summary>Remembers a key; the oldest ones are forgotten where there are more than <paramref name="limit"/> then.</summary>
    public void Add(ulong hash, int limit)
    {
        Debug.Assert(limit > 0, "There is room for one at least.");
        while (Count >= limit)
        {
            Remove(_oldest);
        }

        // The same key may be there already: it was removed from the cache, and set and evicted anew.
        TryTake(hash);
        if (_free == None)
        {
            Grow();
        }

        int index = _free;
        ref Node node = ref _nodes[index];
        _free = node.NextInChain;
        node.Hash = Bits(hash);
        ref int bucket = ref BucketOf(node.Hash);
        node.NextInChain = bucket;
        bucket = index;

        node.Newer = None;
        node.Older = _newest;
        if (_newest == None)
        {
            _oldest = index;
        }
        else
        {
            _nodes[_newest].Newer = index;
        }

        _newest = index;
        Count++;
    }

    /// <summary>True if the key was remembered; it no longer is.</summary>
    public bool TryTake(ulong hash)
    {
        if (Count == 0)
        {
            return false;
        }

        uint bits = Bits(hash);
        for (int index = BucketOf(bits); index != None; index = _nodes[index].NextInChain)
        {
            if (_nodes[index].Hash == bits)
            {
                Remove(index);
                return true;
            }
        }

        return false;
    }

    public void Clear()
    {
        _nodes = [];
        _buckets = [];
        _free = None;
        _oldest = None;
        _newest = None;
        Count = 0;
    }

    // The low half: the high bits choose the shard, and are the same for all keys here.
    private static uint Bits(ulong hash) => (uint)hash;

    private ref int BucketOf(uint bits) => ref _buckets[bits & (uint)(_buckets.Length - 1)];

    private void Remove(int index)
    {
        ref Node node = ref _nodes[index];
        ref int link = ref BucketOf(node.Hash);
        while (link != index)
        {
            link = ref _nodes[link].NextInChain;
        }

        link = node.NextInChain;
        if (node.Older == None)
        {
            _oldest = node.Newer;
        }
        else
        {
            _nodes[node.Older].Newer = node.Newer;
        }

        if (node.Newer == None)
        {
            _newest = node.Older;
        }
        else
        {
            _nodes[node.Newer].Older = node.Older;
        }

        node.NextInChain = _free;
        _free = index;
        Count--;
    }

    private void Grow()
    {
        int length = Math.Max(SmallestCapacity, _nodes.Length * 2);
        int used = _nodes.Length;
        Array.Resize(ref _nodes, length);
        _buckets = new int[length];
        Array.Fill(_buckets, None);

        // All nodes are in use, or this would not run.
        for (int index = 0; index < used; index++)
        {
            ref int bucket = ref BucketOf(_nodes[index].Hash);
            _nodes[index].NextInChain = bucket;
            bucket = index;
        }

        for (int index = length - 1; index >= used; index--)
        {
            _nodes[index].NextInChain = _free;
            _free = index;
        }
    }

    [StructLayout(LayoutKind.Auto)]
    private struct Node
    {
        public uint Hash;
        public int NextInChain;
        public int Older;
        public int Newer;
    }
}
