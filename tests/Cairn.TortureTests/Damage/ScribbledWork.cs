using System.Globalization;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>What one of several processes does on a store that another program scribbles over meanwhile.</summary>
internal sealed class ScribbledWork
{
    private const int StepsPerLine = 200;

    private static readonly KillSizes Sizes = new(ShortBytes: 700, LeastLongBytes: 3_000, MostLongBytes: 60_000, LongPerMille: 100);

    private readonly StoreOptions _options;
    private readonly Random _random;
    private readonly DamageValues _values;
    private readonly DamageValues[] _others;
    private string _doing = "opening";

    public ScribbledWork(string path, Random random, int owner, int owners)
    {
        // Operations on a partition whose lock names somebody for no reason are given up soon.
        _options = new StoreOptions { Path = path, LockTimeout = TimeSpan.FromMilliseconds(5), FlushOnClose = false, CapacityBytes = 1 << 20 };
        _random = random;
        _values = new DamageValues(owner);
        _others = [.. Enumerable.Range(0, owners).Where(other => other != owner).Select(DamageValues.OfAnother)];
    }

    /// <summary>Opens the store and says "open", works for as long as it may, and then closes the store.</summary>
    public void Run(Func<bool> mayGoOn)
    {
        try
        {
            using (CairnStore store = CairnStore.Open(_options))
            {
                DamageWork work = WorkOn(store);
                Console.WriteLine("open");
                for (int step = 0; mayGoOn(); step++)
                {
                    try
                    {
                        Step(store, work);
                    }
                    catch (StoreException refusal) when (refusal is StoreFullException or StoreBusyException or StoreCorruptException)
                    {
                        // A collection whose record was scribbled over may have become one that keeps: what it cannot do is an error.
                    }

                    if (step % StepsPerLine == 0)
                    {
                        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"at {step}"));
                    }
                }

                _doing = "closing";
            }

            Console.WriteLine("done");
        }
#pragma warning disable CA1031 // Whatever it is, the test is told, and fails.
        catch (Exception fault)
#pragma warning restore CA1031
        {
            Console.WriteLine($"fault while {_doing}: {fault}".ReplaceLineEndings(" | "));
        }
    }

    private void Step(CairnStore store, DamageWork work)
    {
        switch (_random.Next(1_000))
        {
            case 0:
                _doing = "verifying";
                CairnStore.Verify(store.Path, new VerifyOptions { MaxFindings = 1 });
                break;
            case < 10:
                _doing = "working in another opening";
                OpenOnceMore();
                break;
            case < 16:
                _doing = "looking around";
                work.LookAround();
                break;
            case < 400:
                _doing = "reading";
                work.ReadOf(_others[_random.Next(_others.Length)]);
                break;
            default:
                _doing = "working";
                work.Step();
                break;
        }
    }

    private void OpenOnceMore()
    {
        try
        {
            using CairnStore store = CairnStore.Open(_options);
            DamageWork work = WorkOn(store);
            for (int i = 0; i < 20; i++)
            {
                work.Step();
            }
        }
        catch (StoreException)
        {
            // What was scribbled over cannot be opened, or has no room for a collection.
        }
    }

    // Who pins a value and reads it where it lies reads what is scribbled there.
    private DamageWork WorkOn(CairnStore store) => new(store, _values, TimeProvider.System, _random, Sizes, arePinsSafe: false);
}
