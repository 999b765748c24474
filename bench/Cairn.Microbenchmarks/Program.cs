using BenchmarkDotNet.Running;
using Cairn.Microbenchmarks;

if (args is [ExpiryMeasurement.Command, ..])
{
    return ExpiryMeasurement.Run(args.ElementAtOrDefault(1));
}

if (args is [ExpiryLoad.Command, .. var load])
{
    return ExpiryLoad.Run(load);
}

BenchmarkSwitcher.FromAssembly(typeof(Program).Assembly).Run(args);
return 0;
