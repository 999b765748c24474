// A model of a Redis Cluster: the slots of keys, redirections, and shards of a master and a replica.
//
//   I1  A master acknowledges a change at once and sends it to its replica afterwards, in order. A failover loses what was not sent.
//   I2  A node that the others cannot reach keeps its old slots until the time-out of nodes has passed. Then it refuses commands that have keys.
//   I3  A slot that moves is served by its old node for the keys that are still there. For others, that node redirects one request (ASK).
using System.Net;
using System.Text;
using Cairn.Simulation.Network;
using Cairn.Simulation.Rewriting;
using Cairn.Simulation.Scheduling;

namespace Cairn.Simulation.Servers;

internal sealed class VirtualCluster
{
    public const int FirstPort = 7_000;

    private const int Slots = 16_384;
    private const int Polynomial = 0x1021;

    // Between nodes, in ticks: a message, and how long a change waits until its replica has it.
    private const long BusTicks = 2_000;

    private readonly World _world;
    private readonly SeededRandom _random;
    private readonly List<ClusterShard> _shards = [];
    private readonly ClusterShard[] _owners = new ClusterShard[Slots];
    private readonly Dictionary<int, ClusterShard> _moving = [];

    public VirtualCluster(World world, VirtualNetwork network, int shards, bool hasReplicas, Func<string, VirtualRedis> newServer)
    {
        _world = world;
        _random = SeededRandom.For(world.Seed, "cluster");
        for (int i = 0; i < shards; i++)
        {
            VirtualRedis master = AddServer($"master{i}", FirstPort + i);
            VirtualRedis? replica = hasReplicas ? AddServer($"replica{i}", FirstPort + shards + i) : null;
            _shards.Add(new ClusterShard(master, replica));
        }

        for (int slot = 0; slot < Slots; slot++)
        {
            _owners[slot] = _shards[(int)((long)slot * shards / Slots)];
        }

        VirtualRedis AddServer(string name, int port)
        {
            VirtualRedis server = newServer(name);
            server.Cluster = this;
            server.ClusterPlace = new IPEndPoint(IPAddress.Loopback, port);
            network.Add(server.ClusterPlace, server);
            Servers.Add(server);
            return server;
        }
    }

    /// <summary>Gets or sets how long after the loss of a master its replica takes its place.</summary>
    public long NodeTimeoutTicks { get; set; } = TimeSpan.FromSeconds(1.5).Ticks;

    /// <summary>Gets or sets the longest time until a replica has a change.</summary>
    public long ReplicationTicks { get; set; } = 10 * TimeSpan.TicksPerMillisecond;

    /// <summary>Gets all nodes.</summary>
    public List<VirtualRedis> Servers { get; } = [];

    public IReadOnlyList<ClusterShard> Shards => _shards;

    /// <summary>Gets or sets what follows the loss of the last changes of a key: the entry that it has now.</summary>
    public Action<string, RedisEntry?>? Lost { get; set; }

    /// <summary>Returns the slot of a key: CRC-16 (XMODEM) of the key, or of the part between braces.</summary>
    public static int SlotOf(string key)
    {
        int open = key.IndexOf('{', StringComparison.Ordinal);
        int close = open < 0 ? -1 : key.IndexOf('}', open + 1);
        int crc = 0;
        foreach (byte value in Encoding.UTF8.GetBytes(close > open + 1 ? key[(open + 1)..close] : key))
        {
            crc ^= value << 8;
            for (int bit = 0; bit < 8; bit++)
            {
                crc = (crc & 0x8000) != 0 ? ((crc << 1) ^ Polynomial) & 0xFFFF : crc << 1;
            }
        }

        return crc % Slots;
    }

    /// <summary>Returns the error by which a node refuses a command with these keys, of one slot; null if it executes the command.</summary>
    public string? Refusal(VirtualRedis node, string[] keys, bool isAsking)
    {
        int slot = SlotOf(keys[0]);
        if (keys.Any(key => SlotOf(key) != slot))
        {
            return "CROSSSLOT Keys in request don't hash to the same slot";
        }

        if (node.IsolatedAt is { } isolatedAt)
        {
            // I2: it does not know that its replica has taken its place.
            return _world.Now - isolatedAt - (node.Stalled - node.StalledBefore) > NodeTimeoutTicks ? "CLUSTERDOWN The cluster is down"
                : node.ShardWhenIsolated == _owners[slot] ? null
                : Moved(slot);
        }

        int missing = keys.Count(key => node.EntryOf(key) is null);
        ClusterShard? target = _moving.GetValueOrDefault(slot);
        if (_owners[slot].Master == node)
        {
            return target is null || missing == 0 ? null
                : missing < keys.Length ? "TRYAGAIN Multiple keys request during rehashing of slot"
                : $"ASK {slot} {target.Master.ClusterPlace}"; // I3
        }

        return !isAsking || target?.Master != node ? Moved(slot)
            : keys.Length > 1 && missing > 0 ? "TRYAGAIN Multiple keys request during rehashing of slot"
            : null;
    }

    /// <summary>Returns the ranges of slots and their masters, as the reply to <c>CLUSTER SLOTS</c>.</summary>
    public string DescribeSlots(VirtualRedis node)
    {
        if (node.SlotsWhenIsolated is { } before)
        {
            return before;
        }

        var text = new StringBuilder();
        int ranges = 0;
        for (int first = 0; first < Slots;)
        {
            int last = first;
            while (last + 1 < Slots && _owners[last + 1] == _owners[first])
            {
                last++;
            }

            IPEndPoint place = _owners[first].Master.ClusterPlace!;
            string host = place.Address.ToString();
            text.Append(System.Globalization.CultureInfo.InvariantCulture, $"*3\r\n:{first}\r\n:{last}\r\n*2\r\n${host.Length}\r\n{host}\r\n:{place.Port}\r\n");
            first = last + 1;
            ranges++;
        }

        return $"*{ranges}\r\n{text}";
    }

    /// <summary>Returns whether the node is a master, as far as it knows.</summary>
    public bool IsMaster(VirtualRedis node) => node.IsolatedAt is not null || _shards.Exists(shard => shard.Master == node);

    /// <summary>Sends a change of a master to its replica (I1).</summary>
    public void OnChanged(VirtualRedis node, string key, RedisEntry? entry)
    {
        if (_shards.Find(shard => shard.Master == node) is not { } shard)
        {
            if (node.IsolatedAt is not null)
            {
                // I2: it acknowledges what another node does not have.
                Lost?.Invoke(key, _owners[SlotOf(key)].Master.EntryOf(key));
            }

            return;
        }

        if (shard.Replica is not { } replica)
        {
            return;
        }

        var change = new Replication(key, entry?.Copy());
        shard.NotSent.AddLast(change);
        if (node.IsolatedAt is null)
        {
            shard.LastArrival = Math.Max(shard.LastArrival + 1, _world.Now + _random.Between(BusTicks, ReplicationTicks));
            _world.Schedule(shard.LastArrival - _world.Now, () =>
            {
                // A message of a master arrives although the master has failed since. A replica that has taken its place ignores it.
                if (shard.Replica == replica && shard.NotSent.Remove(change) && !IsForgotten(replica, key))
                {
                    replica.Replicate(key, change.Entry);
                }
            });
        }
    }

    /// <summary>Sends a message to the subscribers of all other nodes.</summary>
    public void OnPublished(VirtualRedis node, string channel, byte[] message)
    {
        foreach (VirtualRedis other in Servers.Where(other => other != node && other.IsolatedAt is null && node.IsolatedAt is null))
        {
            _world.Schedule(other, BusTicks, _ => other.PublishFromBus(channel, message), null);
        }
    }

    /// <summary>A master fails, or the others cannot reach it: its replica takes its place after the time-out of nodes.</summary>
    public void ReplaceLater(ClusterShard shard)
    {
        VirtualRedis failed = shard.Master;
        _world.Schedule(NodeTimeoutTicks, () =>
        {
            if (shard.Master == failed && shard.Replica is { IsListening: true } && (failed.IsolatedAt is not null || !failed.IsListening))
            {
                Replace(shard);
            }
        });
    }

    /// <summary>The replica takes the master's place. Without a failure, it has all changes before.</summary>
    public void Replace(ClusterShard shard)
    {
        VirtualRedis failed = shard.Master;
        _world.History.Add(_world, "cluster", $"{shard.Replica!.Name} takes the place of {failed.Name}, without {shard.NotSent.Count} changes");
        string[] lost = [.. shard.NotSent.Select(change => change.Key).Distinct(StringComparer.Ordinal)];
        shard.NotSent.Clear();
        (shard.Master, shard.Replica) = (shard.Replica, failed);
        foreach (string key in lost)
        {
            Lost?.Invoke(key, shard.Master.EntryOf(key));
        }

        if (failed.IsListening && failed.IsolatedAt is null)
        {
            failed.CopyFrom(shard.Master);
        }
    }

    /// <summary>The replica gets all changes at once, and takes the master's place.</summary>
    public void HandOver(ClusterShard shard)
    {
        if (shard.Replica is { IsListening: true, IsolatedAt: null } replica && shard.Master is { IsListening: true, IsolatedAt: null })
        {
            foreach (Replication change in shard.NotSent)
            {
                replica.Replicate(change.Key, change.Entry);
            }

            shard.NotSent.Clear();
            Replace(shard);
        }
    }

    /// <summary>A node can no longer reach the others. Machines can reach it.</summary>
    public void Isolate(ClusterShard shard)
    {
        shard.Master.SlotsWhenIsolated = DescribeSlots(shard.Master);
        shard.Master.ShardWhenIsolated = shard;
        shard.Master.IsolatedAt = _world.Now;
        shard.Master.StalledBefore = shard.Master.Stalled;
        ReplaceLater(shard);
    }

    /// <summary>A node that failed, or that was isolated, is back. It is a replica if another node has taken its place.</summary>
    public void Return(VirtualRedis node)
    {
        bool wasIsolated = node.IsolatedAt is not null;
        node.IsolatedAt = null;
        node.SlotsWhenIsolated = null;
        node.ShardWhenIsolated = null;
        if (_shards.Find(shard => shard.Replica == node) is { } shard)
        {
            node.CopyFrom(shard.Master);
            shard.NotSent.Clear();
        }
        else if (_shards.Find(shard => shard.Master == node) is { } own)
        {
            // A master that restarts without a file before its replica has taken its place makes the replica empty, too.
            if (!wasIsolated && !node.IsDurable)
            {
                node.ForgetAll();
            }

            own.Replica?.CopyFrom(node);
            own.NotSent.Clear();
        }
    }

    /// <summary>Moves a range of slots: the keys one after the other, and then the slots.</summary>
    public void Move(int first, int count, ClusterShard target, long ticks)
    {
        int[] slots = [.. Enumerable.Range(first, count).Where(slot => _owners[slot] != target && !_moving.ContainsKey(slot))];
        foreach (int slot in slots)
        {
            _moving[slot] = target;
        }

        _world.Schedule(ticks / 2, () => MoveKeys(_random.Below(2) == 0 ? slots : []));
        _world.Schedule(ticks, () =>
        {
            MoveKeys(slots);
            foreach (int slot in slots)
            {
                _owners[slot] = target;
                _moving.Remove(slot);
            }
        });

        void MoveKeys(int[] moved)
        {
            foreach (int slot in moved)
            {
                VirtualRedis source = _owners[slot].Master;
                foreach (string key in source.KeyNames.Where(key => SlotOf(key) == slot).ToArray())
                {
                    source.MoveTo(target.Master, key);
                }
            }
        }
    }

    // The broken twin of a replica keeps the first value of a key.
    private bool IsForgotten(VirtualRedis replica, string key) => _world.Twin == Twins.ForgetsReplicatedChanges
        && key.StartsWith("cache:k:", StringComparison.Ordinal) && replica.EntryOf(key) is not null;

    private string Moved(int slot) => $"MOVED {slot} {_owners[slot].Master.ClusterPlace}";
}

/// <summary>A part of the slots, and the nodes that have their keys.</summary>
internal sealed class ClusterShard(VirtualRedis master, VirtualRedis? replica)
{
    public VirtualRedis Master { get; set; } = master;

    public VirtualRedis? Replica { get; set; } = replica;

    /// <summary>Gets the changes that the replica does not have.</summary>
    public LinkedList<Replication> NotSent { get; } = [];

    public long LastArrival { get; set; }
}

/// <summary>A change on its way to a replica.</summary>
internal sealed record Replication(string Key, RedisEntry? Entry);
