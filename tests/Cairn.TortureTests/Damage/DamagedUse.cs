using System.Globalization;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>What came of the damaged files of a run.</summary>
internal sealed class DamageTally
{
    public int Refused { get; set; }

    public int Opened { get; set; }

    public int Compacted { get; set; }

    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Refused} refused, {Opened} opened, {Compacted} compacted");
}

/// <summary>Uses a damaged store in every way there is, and says what should not have happened.</summary>
internal sealed class DamagedUse
{
    private const int FreshWrites = 200;

    private readonly string _path;
    private readonly DamageScene _scene;
    private readonly ManualClock _clock = new();
    private readonly DamageValues _values;
    private readonly Random _random;
    private readonly DamageTally _tally;
    private string _doing = "nothing";

    private DamagedUse(string path, DamageScene scene, Random random, DamageTally tally)
    {
        _path = path;
        _scene = scene;
        _values = scene.Values.Copy();
        _clock.Set(scene.Clock.Now);
        _random = random;
        _tally = tally;
    }

    private StoreOptions Options => _scene.Options with { FlushOnClose = _random.Next(2) == 0, Clock = _clock };

    public static void Run(string path, DamageScene scene, int seed, DamageTally tally)
    {
        (byte[] bytes, string description) = FileDamage.Do(scene, seed);
        var use = new DamagedUse(path, scene, new Random(seed), tally);
        try
        {
            use.UseAll(bytes);
        }
#pragma warning disable CA1031 // Whatever it is, the test is told, and fails.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            string text = string.Create(
                CultureInfo.InvariantCulture,
                $"seed {seed}, a store of {scene.Options.CapacityBytes >> 20} MiB, {scene.Ending}: {description}: while {use._doing}: {fault}");
            Console.WriteLine($"fault {text.ReplaceLineEndings(" | ")}");
        }

        File.Delete(path);
    }

    private void UseAll(byte[] bytes)
    {
        File.WriteAllBytes(_path, bytes);
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
        return new DamageWork(store, _values, _clock, _random, _scene.Sizes);
    }

    // A store that opens is of use.
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
        VerifyReport report = CairnStore.Verify(_path, new VerifyOptions { Clock = _clock, MaxFindings = 5 });
        Assert.Equal(report.DamageCount == 0, report.IsSound);
    }

    // What comes out of it is a sound store.
    private bool Compact()
    {
        _doing = "compacting";
        if (!Try(() => CairnStore.Compact(_path, new CompactOptions { Clock = _clock }), out CompactReport? _))
        {
            _tally.Refused++;
            return false;
        }

        _tally.Compacted++;
        _doing = "verifying what was compacted";
        VerifyReport report = CairnStore.Verify(_path, new VerifyOptions { Clock = _clock });
        Assert.True(report.IsSound, string.Join(" | ", report.Findings));
        return true;
    }

    // These exceptions are documented: the file is damaged, of another version, or cannot be opened.
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
