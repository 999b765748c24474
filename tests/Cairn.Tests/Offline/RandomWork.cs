namespace Cairn.Tests.Offline;

/// <summary>Performs all operations of a store in an order that the seed determines.</summary>
internal sealed class RandomWork(CairnStore store, ManualClock clock, int seed)
{
    private readonly Random _random = new(seed);
    private readonly CairnCollection[] _collections = [store.DefaultCollection, store.Collection("books"), store.Collection("sessions")];

    public RandomWork Do(int operations, int keys = 2_000)
    {
        for (int i = 0; i < operations; i++)
        {
            Step($"key:{_random.Next(keys)}");
        }

        return this;
    }

    private void Step(string key)
    {
        CairnCollection collection = _collections[_random.Next(_collections.Length)];
        switch (_random.Next(100))
        {
            case < 50:
                collection.Set(key, TestBytes.Of(_random.Next(400), _random.Next()), RandomExpiration(), (uint)_random.Next(2));
                break;
            case < 60:
                collection.Get(key);
                break;
            case < 68:
                collection.Remove(key);
                break;
            case < 74:
                collection.Append(key, TestBytes.Of(_random.Next(100)));
                break;
            case < 78:
                collection.Touch(key, RandomExpiration());
                break;
            case < 82:
                collection.Increment($"number:{key}", 1, out _, initialValue: 1);
                break;
            case < 88:
                collection.AcquireLease(key, TimeSpan.Zero, out StoreLease? lease);
                if (_random.Next(2) == 0)
                {
                    lease?.TrySet("leased"u8);
                    lease?.Dispose();
                }

                break;
            case < 94:
                clock.Advance(TimeSpan.FromSeconds(_random.Next(3)));
                break;
            case < 99:
                collection.Set(key, TestBytes.Of(_random.Next(5_000, 20_000), _random.Next()));
                break;
            default:
                Rarely(collection, key);
                break;
        }
    }

    private void Rarely(CairnCollection collection, string key)
    {
        switch (_random.Next(10))
        {
            case 0:
                collection.Clear();
                break;
            case < 4:
                collection.Set(key, TestBytes.Of(_random.Next(70_000, Math.Min(500_000, store.MaxValueBytes))));
                break;
            default:
                collection.Set(key, new MemoryStream(TestBytes.Of(100_000)), 100_000);
                break;
        }
    }

    private Expiration RandomExpiration() => _random.Next(4) switch
    {
        0 => TimeSpan.FromSeconds(_random.Next(1, 10_000)),
        1 => Expiration.Sliding(TimeSpan.FromSeconds(_random.Next(1, 1_000))),
        _ => Expiration.None,
    };
}
