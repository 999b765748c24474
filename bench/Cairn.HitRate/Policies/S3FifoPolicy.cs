namespace Cairn.HitRate.Policies;

// S3-FIFO for each object. A small queue, a tenth of the capacity, takes new keys, and a main queue takes the rest. A ghost queue remembers keys
// that the small queue evicted, as many as the main queue holds.
//
//   new --> small --frequency >= 2--> main --frequency >= 1--> main (reinserted with one less)
//             |                         `--frequency 0--> evicted
//             `--otherwise--> evicted, remembered in ghost --asked for again--> main
//
// A frequency counts hits, up to 3. A key moves to main after two hits, and its count starts from 0 again. One hit soon after arrival is common
// among keys that are never requested again. Yang, Zhang, Qiu, Yue and Rashmi, "FIFO queues are all you need for cache eviction", SOSP 2023.
internal sealed class S3FifoPolicy : ICachePolicy
{
    private const int MaxFrequency = 3;
    private const int FrequencyForMain = 2;

    private readonly int _capacity;
    private readonly int _smallCapacity;
    private readonly int _ghostCapacity;
    private readonly KeyList _small;
    private readonly KeyList _main;
    private readonly KeyList _ghost;
    private readonly Place[] _places;
    private readonly byte[] _frequencies;

    public S3FifoPolicy(int capacity, int distinctKeys)
    {
        _capacity = capacity;
        _smallCapacity = Math.Max(1, capacity / 10);
        _ghostCapacity = Math.Max(1, capacity - _smallCapacity);
        _small = new KeyList(distinctKeys);
        _main = new KeyList(distinctKeys);
        _ghost = new KeyList(distinctKeys);
        _places = new Place[distinctKeys];
        _frequencies = new byte[distinctKeys];
    }

    private enum Place : byte
    {
        Nowhere,
        Small,
        Main,
        Ghost,
    }

    public bool Request(int key)
    {
        if (_places[key] is Place.Small or Place.Main)
        {
            _frequencies[key] = (byte)Math.Min(_frequencies[key] + 1, MaxFrequency);
            return true;
        }

        while (_small.Count + _main.Count >= _capacity)
        {
            Evict();
        }

        // The eviction above can push the key out of the ghost queue. The key is then a new one.
        if (_places[key] == Place.Ghost)
        {
            _ghost.Remove(key);
            Insert(_main, Place.Main, key);
        }
        else
        {
            Insert(_small, Place.Small, key);
        }

        _frequencies[key] = 0;
        return false;
    }

    public void Dispose()
    {
    }

    private void Evict()
    {
        if (_small.Count >= _smallCapacity || _main.Count == 0)
        {
            EvictFromSmall();
        }
        else
        {
            EvictFromMain();
        }
    }

    private void EvictFromSmall()
    {
        while (_small.Count > 0)
        {
            var key = _small.RemoveLast();
            if (_frequencies[key] < FrequencyForMain)
            {
                Remember(key);
                return;
            }

            _frequencies[key] = 0;
            Insert(_main, Place.Main, key);
        }
    }

    private void EvictFromMain()
    {
        while (true)
        {
            var key = _main.RemoveLast();
            if (_frequencies[key] == 0)
            {
                _places[key] = Place.Nowhere;
                return;
            }

            _frequencies[key]--;
            _main.AddFirst(key);
        }
    }

    private void Remember(int key)
    {
        if (_ghost.Count == _ghostCapacity)
        {
            _places[_ghost.RemoveLast()] = Place.Nowhere;
        }

        Insert(_ghost, Place.Ghost, key);
    }

    private void Insert(KeyList queue, Place place, int key)
    {
        queue.AddFirst(key);
        _places[key] = place;
    }
}
