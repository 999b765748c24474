using System.Globalization;
using Cairn.Steps;
using Cairn.Tests.Concurrency;

namespace Cairn.Tests.Eviction;

/// <summary>A segment that several processes pin stays until the last of them releases it, even if some of them die.</summary>
[Collection(ProtocolScripts.Name)]
public sealed class PinOfDeadOwnerTests : IDisposable
{
    private const int ValueBytes = 3_000; // One value fills a segment.

    private readonly TestDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Pin_of_a_process_that_died_does_not_hide_the_pin_of_one_that_lives()
    {
        var options = new StoreOptions { Path = _directory["store"], CapacityBytes = StoreLimits.MinCapacityBytes };
        CairnStore.Open(options).Dispose();
        string[] oldest = [.. Enumerable.Range(0, 20).Select(i => $"key:{i}")];
        using var doomed = ChildProcess.Start(typeof(PinOfDeadOwnerTests), ["hold-pins", options.Path, .. oldest]);
        Assert.Equal("open", doomed.ReadLine());
        using var store = CairnStore.Open(options);
        var pins = new List<PinnedValue>();
        int doomedPins = 0;

        // Pinned after the victim was chosen and before its slots are cleared. It is therefore retired, not skipped.
        using (var script = new ProtocolScript(ProtocolStep.VictimChosen, () =>
        {
            pins.AddRange(oldest.Select(key => store.DefaultCollection.TryPin(key, out PinnedValue? pinned) ? pinned : null).OfType<PinnedValue>());
            doomed.WriteLine("pin");
            doomedPins = int.Parse(doomed.ReadLine(), CultureInfo.InvariantCulture);
        }))
        {
            Fill(store, 0, 400);
            Assert.True(script.HasRun);
        }

        byte[][] before = [.. pins.Select(pinned => pinned.Value.ToArray())];
        doomed.Kill();
        Fill(store, 400, 800);

        Assert.NotEmpty(pins);
        Assert.Equal(pins.Count, doomedPins);
        Assert.All(pins.Zip(before), pair => Assert.Equal(pair.Second, pair.First.Value.ToArray()));
        pins.ForEach(pinned => pinned.Dispose());
    }

    private static void Fill(CairnStore store, int from, int to)
    {
        byte[] value = new byte[ValueBytes];
        for (int i = from; i < to; i++)
        {
            value.AsSpan().Fill((byte)i);
            store.DefaultCollection.Set($"key:{i}", value);
        }
    }
}
