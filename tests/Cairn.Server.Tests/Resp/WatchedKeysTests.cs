using System.Text;
using Cairn.Concurrency;
using Cairn.Server.Connections;
using Cairn.Server.Pinning;
using Cairn.Server.Resp;

namespace Cairn.Server.Tests.Resp;

/// <summary>The state of the keys of WATCH (WatchedKeys).</summary>
public sealed class WatchedKeysTests : IDisposable
{
    private readonly RespHost _host = new();
    private readonly HeldMemory _held = new();
    private readonly KeySpace _keys;
    private readonly WatchedKeys _watched;

    public WatchedKeysTests()
    {
        _keys = new KeySpace(_host.Store, int.MaxValue, PinnedKeys.None);
        _watched = new WatchedKeys(_host.Store, _keys, _held);
    }

    public void Dispose() => _host.Dispose();

    [Fact]
    public void Key_that_is_written_with_the_same_value_has_changed()
    {
        Set("a");
        _watched.Add("a"u8);
        Assert.True(_watched.AreUnchanged());

        Set("a");

        Assert.False(_watched.AreUnchanged());
    }

    [Fact]
    public void Missing_key_that_was_written_and_removed_has_changed()
    {
        _watched.Add("a"u8);
        Set("b");
        Assert.True(_watched.AreUnchanged());

        Set("a");
        _host.Store.DefaultCollection.Remove("a"u8);

        Assert.False(_watched.AreUnchanged());
    }

    [Fact]
    public void Missing_key_counts_as_changed_after_the_ring_has_wrapped_around()
    {
        _watched.Add("a"u8);

        string other = Enumerable.Range(0, int.MaxValue).Select(i => $"key {i}").First(key => PartitionOf(key) == PartitionOf("a"));
        for (int i = 0; i <= _host.Store.Engine.Memory.Layout.RingCells; i++)
        {
            Set(other);
        }

        Assert.False(_watched.AreUnchanged());
    }

    [Fact]
    public void Key_that_is_added_twice_keeps_its_first_state_and_its_memory_counts_once()
    {
        _watched.Add("a"u8);
        long bytes = _held.Bytes;
        Set("a");

        _watched.Add("a"u8);

        Assert.False(_watched.AreUnchanged());
        Assert.Equal(bytes, _held.Bytes);
        _watched.Release();
        Assert.Equal(0, _held.Bytes);
    }

    [Fact]
    public void Partitions_of_all_keys_are_added_to_a_hold()
    {
        _watched.Add("a"u8);
        _watched.Add("b"u8);
        var hold = new PartitionHold(_host.Store.PartitionCount);

        _watched.AddTo(hold);

        Assert.Equal(PartitionOf("a") == PartitionOf("b") ? 1 : 2, hold.Count);
    }

    private int PartitionOf(string key) => _keys.PartitionOf(Encoding.ASCII.GetBytes(key));

    private void Set(string key) => _host.Store.DefaultCollection.Set(key, "value"u8);
}
