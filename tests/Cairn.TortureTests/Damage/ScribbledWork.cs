using System.Globalization;
using Cairn.TortureTests.Kills;

namespace Cairn.TortureTests.Damage;

/// <summary>The work of one of several processes on a store that another program overwrites at the same time.</summary>
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
        // A short time-out, so that operations give up soon on a partition whose lock word names an owner by mistake.
        _options = new StoreOptions { Path = path, LockTimeout = TimeSpan.FromMilliseconds(5), FlushOnClose = false, CapacityBytes = 1 << 20 };
        _random = random;
        _values = new DamageValues(owner);
        _others = [.. Enumerable.Range(0, owners).Where(other => other != owner).Select(DamageValues.OfAnother)];
    }

    /// <summary>Opens the store, prints "open", works as long as <paramref name="mayGoOn"/> allows, and closes the store.</summary>
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
                        // Damage to a collection's record can turn it into a kept collection. An operation that this kind does not support throws.
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
#pragma warning disable CA1031 // Reports any exception to the test, which then fails.
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
                StoreMaintenance.Verify(store.Path, new VerifyOptions { MaxFindings = 1 });
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
            // An overwritten file may be impossible to open, or may have no room for a collection.
        }
    }

    // A reader that reads a pinned value in place reads the garbage that the other program writes there.
    private DamageWork WorkOn(CairnStore store) => new(store, _values, TimeProvider.System, _random, Sizes, arePinsSafe: false);
}
