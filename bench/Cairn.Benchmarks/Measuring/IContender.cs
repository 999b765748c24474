namespace Cairn.Benchmarks.Measuring;

/// <summary>Something that does the work of a case and says what it cost. The product is one, each peer another.</summary>
internal interface IContender : IDisposable
{
    string Name { get; }

    /// <summary>One pass over the work that nobody looks at. Called until the compiler has nothing left to improve.</summary>
    void WarmUp();

    /// <summary>One round. Rounds are numbered from 0, so that contenders sharing one outside run can share its result.</summary>
    Sample Measure(int round);
}
