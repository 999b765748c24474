using System.Globalization;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>Counts the outcomes of the damaged files of a run.</summary>
internal sealed class DamageTally
{
    public int Refused { get; set; }

    public int Opened { get; set; }

    public int Compacted { get; set; }

    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Refused} refused, {Opened} opened, {Compacted} compacted");
}

/// <summary>Uses a damaged store in every way, and reports faults.</summary>
internal sealed class DamagedUse
{
    private const int FreshWrites = 200;

    private readonly StoreOptions _options;
    private readonly DamageValues _values;
    private readonly KillSizes _sizes;
    private readonly Random _random;
    private readonly DamageTally _tally;
    private string _doing = "nothing";

    private DamagedUse(StoreOptions options, DamageValues values, KillSizes sizes, Random random, DamageTally tally)
    {
        _options = options;
        _values = values;
        _sizes = sizes;
        _random = random;
        _tally = tally;
    }

    private StoreOptions Options => _options with { FlushOnClose = _random.Next(2) == 0 };

    /// <summary>Uses a file unchanged. It is a store whose processes have ended.</summary>
    public static void RunOnFile(string path, int seed, DamageTally tally)
    {
        var options = new StoreOptions { Path = path, LockTimeout = TimeSpan.FromMilliseconds(200) };
        var sizes = new KillSizes(ShortBytes: 700, LeastLongBytes: 3_000, MostLongBytes: 60_000, LongPerMille: 25);
        new DamagedUse(options, DamageValues.OfAnother(0), sizes, new Random(seed), tally).Run("a file");
    }

    public static void Run(string path, DamageScene scene, int seed, DamageTally tally)
    {
        (byte[] bytes, string description) = FileDamage.Do(scene, seed);
        File.WriteAllBytes(path, bytes);
        var clock = new ManualClock();
        clock.Set(scene.Clock.Now);
        new DamagedUse(scene.Options with { TimeProvider = clock }, scene.Values.Copy(), scene.Sizes, new Random(seed), tally)
            .Run(string.Create(
                CultureInfo.InvariantCulture,
                $"seed {seed}, a store of {scene.Options.CapacityBytes >> 20} MiB, {scene.Ending}: {description}"));
        DamageScene.DeleteStore(path);
    }

    private void Run(string what)
    {
        try
        {
            UseAll();
        }
        catch (StoreException refusal) when (refusal is StoreFullException or StoreBusyException)
        {
            // Damage to a collection's record can turn it into a kept collection. An operation that this kind does not support throws.
        }
#pragma warning disable CA1031 // Reports any exception to the test, which then fails.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            Console.WriteLine($"fault {what}: while {_doing}: {fault}".ReplaceLineEndings(" | "));
        }
    }

    private void UseAll()
    {
        Verify();
        if (_random.Next(8) == 0 && !Compact())
        {
            return;
        }

        _doing = "opening";
        if (!Try(() => CairnStore.Open(Options), out CairnStore? store))
        {
            _tally.Refused++;
            return;
        }

        _tally.Opened++;
        using (store)
        {
            Use(store!);
        }

        Verify();
        if (_random.Next(4) == 0)
        {
            Compact();
        }

        _doing = "opening again";
        using CairnStore again = CairnStore.Open(Options);
        DamageWork work = WorkOn(again, "reading again");
        work.ReadAll();
        ExpectToWork(work);
    }

    private void Use(CairnStore store)
    {
        DamageWork work = WorkOn(store, "reading");
        work.ReadAll();
        _doing = "looking around";
        work.LookAround();
        ExpectToWork(work);
        _doing = "working";
        for (int i = 0; i < 500; i++)
        {
            work.Step();
        }

        _doing = "evicting";
        work.Flood();
        _doing = "working in another opening, too";
        using (CairnStore other = CairnStore.Open(Options))
        {
            DamageWork otherWork = WorkOn(other, "working in another opening, too");
            for (int i = 0; i < 200; i++)
            {
                work.Step();
                otherWork.Step();
            }

            otherWork.ReadAll();
        }

        work.ReadAll();
        _doing = "looking around after work";
        work.LookAround();
        ExpectToWork(work);
        _doing = "closing";
    }

    private DamageWork WorkOn(CairnStore store, string what)
    {
        _doing = what;
        return new DamageWork(store, _values, _options.TimeProvider, _random, _sizes);
    }

    // A store that opens must work.
    private void ExpectToWork(DamageWork work)
    {
        _doing = "writing what is new";
        int working = work.CountWorkingWrites(FreshWrites);
        if (working < FreshWrites * 9 / 10)
        {
            throw new InvalidOperationException($"Of {FreshWrites} new values only {working} could be read.");
        }
    }

    private void Verify()
    {
        _doing = "verifying";
        VerifyReport report = StoreMaintenance.Verify(_options.Path, new VerifyOptions { TimeProvider = _options.TimeProvider, MaxFindings = 5 });
        Assert.Equal(report.DamageCount == 0, report.IsSound);
    }

    // Compacting a damaged store produces a sound one.
    private bool Compact()
    {
        _doing = "compacting";
        if (!Try(() => StoreMaintenance.Compact(_options.Path, new CompactOptions { TimeProvider = _options.TimeProvider }), out CompactReport? _))
        {
            _tally.Refused++;
            return false;
        }

        _tally.Compacted++;
        _doing = "verifying what was compacted";
        VerifyReport report = StoreMaintenance.Verify(_options.Path, new VerifyOptions { TimeProvider = _options.TimeProvider });
        Assert.True(report.IsSound, string.Join(" | ", report.Findings));
        return true;
    }

    // These exceptions are documented: the file is damaged, has another version, or cannot be opened.
    private static bool Try<T>(Func<T> function, out T? result)
        where T : class
    {
        try
        {
            result = function();
            return true;
        }
        catch (StoreException)
        {
            result = null;
            return false;
        }
    }
}
