// What the device is called in messages. The same sources are built under other names, for more backends than one.
#pragma once

#ifndef DEVICE_NAME
#define DEVICE_NAME "spyre"
#endif
